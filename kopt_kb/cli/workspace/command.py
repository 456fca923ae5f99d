"""Change what a workspace was asked for, write its plans, or add a note to its record.

kb workspace set kernel_opt_norm --target-factor 0.85 --reason "agreed with the model team" --by ann
kb workspace set kernel_opt_norm --shape 8192x4096 --shape 4096x16384 --reason "new batch sizes" --by ann
kb workspace set kernel_opt_norm --dtype fp16 --threshold 0.002 --reason "half is enough" --by ann
kb workspace plan kernel_opt_norm
kb workspace note kernel_opt_norm --topic tip --text "the compiler unrolls this loop by itself"
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_input, read_words
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_author, add_common, add_wiki, print_of
from kopt_kb.workspace.notes import add_note, add_readme_notes
from kopt_kb.workspace.plans import PlanFault, new_plan, plan_faults, plan_path
from kopt_kb.workspace.retarget import Terms, parse_factor, parse_threshold, registry_of, set_targets
from kopt_kb.workspace.targets.short import too_short
from kopt_kb.workspace.views.render import RenderReport, render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["NoteTaken", "PlanFile", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    change = actions.add_parser("set", help="set new targets or shapes", allow_abbrev=False)
    change.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    aims = change.add_mutually_exclusive_group()
    aims.add_argument("--target-factor", metavar="SHARE", help="share of the roof, such as 0.85")
    aims.add_argument(
        "--performance-target", metavar="TEXT", help='such as "> 500 TFLOPS" or "> 60%% peak efficiency"; null: none'
    )
    change.add_argument(
        "--shape", metavar="MxN", action="append", default=[], help="all shapes from now on; repeatable"
    )
    change.add_argument("--dtype", metavar="TYPE", default="", help="storage type from now on")
    change.add_argument(
        "--tolerance",
        "--threshold",
        dest="threshold",
        metavar="X",
        help="largest relative error of a correct result from now on",
    )
    change.add_argument("--framework", metavar="NAME", default="", help="language from now on")
    change.add_argument("--notes", metavar="TEXT", default="", help="added to Additional Notes of the README")
    change.add_argument("--reason", metavar="TEXT", required=True, help="why")
    change.add_argument("--by", metavar="NAME", required=True, help="who decides it")
    add_wiki(change)
    plan = actions.add_parser("plan", help="write the plan of the next version, or check one", allow_abbrev=False)
    plan.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    plan.add_argument("--check", metavar="FILE", help="say what a plan lacks; nothing is written")
    add_common(plan)
    note = actions.add_parser("note", help="capture a text and note it", allow_abbrev=False)
    note.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    note.add_argument("--topic", choices=["search", "tip", "pitfall", "user"], required=True, help="what it is about")
    text = note.add_mutually_exclusive_group(required=True)
    text.add_argument("--text", metavar="TEXT", help="the note")
    text.add_argument("--file", metavar="FILE", help="file whose content is the note")
    add_author(note)
    add_common(note)


_MOST_PLAN = 1 << 20


@dataclass(frozen=True, slots=True)
class NoteTaken(Wire):
    """The event that keeps a note, and the rendering that followed."""

    seq: int
    kind: str
    render: RenderReport


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    return {"set": _set, "note": _note, "plan": _plan}[args.action](args)


@dataclass(frozen=True, slots=True)
class PlanFile(Wire):
    """A plan that was written or checked, and what it lacks."""

    file: str
    faults: tuple[PlanFault, ...]


def _plan(args: argparse.Namespace) -> int:
    """Write the next plan, or check one; exit 1 when it lacks something."""
    workspace = Workspace.open(args.path)
    if args.check:
        found = PlanFile(args.check, plan_faults(read_words(Path(args.check), _MOST_PLAN)))
    else:
        number, text = new_plan(workspace.state())
        path = plan_path(workspace.layout, number)
        if path.exists():
            fix = "edit it, or check it with --check"
            raise BadInput("the plan is there already", where=str(path), fix=fix, code="KB113")
        path.write_text(text, encoding="utf-8")
        found = PlanFile(str(path), plan_faults(text))
    if args.json:
        print_of(found, workspace.state())
    else:
        print(
            "\n".join(f"{found.file}:{one.line}: {one.what}" for one in found.faults) or f"{found.file}: a whole plan"
        )
    return ExitCode.FINDING if args.check and found.faults else ExitCode.OK


def _set(args: argparse.Namespace) -> int:
    changes = (args.performance_target is not None, args.shape, args.dtype, args.threshold, args.framework, args.notes)
    if args.target_factor is None and not any(changes):
        fix = "give --target-factor, --performance-target, --shape, --dtype, --threshold, --framework or --notes"
        raise BadInput("nothing to set", where="kb workspace set", fix=fix, code="KB102")
    workspace = Workspace.open(args.path)
    factor = parse_factor(args.target_factor) if args.target_factor is not None else None
    threshold = parse_threshold(args.threshold) if args.threshold is not None else None
    registry = registry_of(workspace.state(), args.wiki)
    if args.notes:
        add_readme_notes(workspace.layout, args.notes)
    done = set_targets(
        workspace, registry, factor=factor, aim=args.performance_target,
        terms=Terms(args.shape, args.dtype, threshold, args.framework), reason=args.reason, by=args.by,
    )  # fmt: skip
    if args.json:
        print_of(done, workspace.state(), args.wiki)
    else:
        for one in done.targets.targets:
            print(f"{one.shape or 'all'}: {one.quantity} {one.op} {one.value} {one.unit}".rstrip())
        for shape, than in too_short(done.targets).items():
            print(f"{shape}: no Stop Condition, its target is shorter than {than}")
        print(f"event {done.event.seq}, set by {done.targets.by}: {done.targets.reason}")
        print(done.report.text)
    return ExitCode.OK


def _note(args: argparse.Namespace) -> int:
    workspace = Workspace.open(args.path)
    event = add_note(workspace, args.topic, _words(args), args.by)
    report = render_workspace(workspace)
    if args.json:
        print_of(NoteTaken(event.seq, event.kind, report), workspace.state())
    else:
        print(f"event {event.seq}: {event.kind}\n{report.text}")
    return ExitCode.OK


def _words(args: argparse.Namespace) -> bytes:
    if args.text is not None:
        return str(args.text).encode("utf-8", "replace")
    return read_input(args.file)
