"""Change the targets or shapes of a workspace, or add a note to its record.

kb workspace set kernel_opt_norm --target-factor 0.85 --reason "agreed with the model team" --by ann
kb workspace set kernel_opt_norm --shape 8192x4096 --shape 4096x16384 --reason "new batch sizes" --by ann
kb workspace note kernel_opt_norm --topic tip --text "the compiler unrolls this loop by itself"
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from kopt_kb.cli.output import add_author, add_common, add_wiki, print_of
from kopt_kb.cli.render import show
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.files import read_input
from kopt_kb.wire import Wire
from kopt_kb.workspace.memory_edit import add_note
from kopt_kb.workspace.retarget import parse_factor, registry_of, set_targets
from kopt_kb.workspace.views.render import RenderReport, render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["NoteTaken", "add_arguments", "run"]


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
    change.add_argument("--reason", metavar="TEXT", required=True, help="why")
    change.add_argument("--by", metavar="NAME", required=True, help="who decides it")
    add_wiki(change)
    note = actions.add_parser("note", help="capture a text and note it", allow_abbrev=False)
    note.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    note.add_argument("--topic", choices=["search", "tip", "pitfall", "user"], required=True, help="what it is about")
    text = note.add_mutually_exclusive_group(required=True)
    text.add_argument("--text", metavar="TEXT", help="the note")
    text.add_argument("--file", metavar="FILE", help="file whose content is the note")
    add_author(note)
    add_common(note)


@dataclass(frozen=True, slots=True)
class NoteTaken(Wire):
    """The event that keeps a note, and the rendering that followed."""

    seq: int
    kind: str
    render: RenderReport


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    return _set(args) if args.action == "set" else _note(args)


def _set(args: argparse.Namespace) -> int:
    if args.target_factor is None and args.performance_target is None and not args.shape:
        fix = "give --target-factor, --performance-target or --shape"
        raise BadInput("nothing to set", where="kb workspace set", fix=fix, code="KB102")
    workspace = Workspace.open(args.path)
    factor = parse_factor(args.target_factor) if args.target_factor is not None else None
    registry = registry_of(workspace.state(), args.wiki)
    done = set_targets(
        workspace, registry, factor=factor, aim=args.performance_target, shapes=args.shape, reason=args.reason,
        by=args.by,
    )  # fmt: skip
    if args.json:
        print_of(done, workspace.state(), args.wiki)
    else:
        for one in done.targets.targets:
            print(f"{one.shape or 'all'}: {one.quantity} {one.op} {one.value} {one.unit}".rstrip())
        print(f"event {done.event.seq}, set by {done.targets.by}: {done.targets.reason}")
        print(show(done.report))
    return ExitCode.OK


def _note(args: argparse.Namespace) -> int:
    workspace = Workspace.open(args.path)
    event = add_note(workspace, args.topic, _words(args), args.by)
    report = render_workspace(workspace)
    if args.json:
        print_of(NoteTaken(event.seq, event.kind, report), workspace.state())
    else:
        print(f"event {event.seq}: {event.kind}\n{show(report)}")
    return ExitCode.OK


def _words(args: argparse.Namespace) -> bytes:
    if args.text is not None:
        return str(args.text).encode("utf-8", "replace")
    return read_input(args.file)
