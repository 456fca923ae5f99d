r"""Read and extend the memory of a workspace: one version an attempt, numbers from records, words from you.

kb memory summary kernel_opt_norm
kb memory read kernel_opt_norm --version v3 --field performance.latency_us
kb memory create kernel_opt_norm --category memory --claim "wider loads" --expected "fewer instructions"
kb memory update kernel_opt_norm --version v3 --set open_directions="try a persistent kernel"
kb memory update kernel_opt_norm --version v3 --set 'search_log={"source": "gpu-wiki", "finding": "..."}'
kb memory mask kernel_opt_norm --version v2 --reason "measured on a busy machine"
kb memory mask kernel_opt_norm --seed 7 --reason "partial restart"
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from kopt_kb.cli.output import add_author, add_common, print_json, table
from kopt_kb.cli.render import show
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wire import JSON
from kopt_kb.workspace import memory_edit as edit
from kopt_kb.workspace.memory import Memory, field_of, parse_version, read_memory
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_arguments", "run"]

_HELP = {
    "init": "make sure the folder and the rendered files exist",
    "create": "begin the next version by hand",
    "read": "print one version, or all that are not masked",
    "update": "add words to a version",
    "mask": "hide versions from every reader",
    "unmask": "show versions again",
    "summary": "print a table of all versions",
    "latest": "print the newest version that is not masked",
    "list": "list the versions, masked ones by number only",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    made: dict[str, argparse.ArgumentParser] = {}
    for name, text in _HELP.items():
        made[name] = actions.add_parser(name, help=text, allow_abbrev=False)
        made[name].add_argument("path", metavar="WORKSPACE", help="workspace folder")
        add_common(made[name])
    made["read"].add_argument("--version", metavar="vN", help="one version")
    for name in ("read", "latest"):
        made[name].add_argument("--field", metavar="NAME", help="one field, members joined by dots")
    made["read"].add_argument("--unmasked-only", action="store_true", help="accepted: masked versions are never read")
    made["create"].add_argument("--version", metavar="vN", help="its name, for a check: it is always the next number")
    for name in ("category", "claim", "expected"):
        made["create"].add_argument(f"--{name}", metavar="TEXT", help=f"the hypothesis: {name}")
    made["update"].add_argument("--version", metavar="vN", required=True, help="the version")
    words = "words for a free-text field; JSON for all members of its form; repeatable"
    made["update"].add_argument(
        "--set", metavar="FIELD=TEXT", action="append", required=True, dest="entries", help=words
    )
    for name in ("create", "update"):
        add_author(made[name])
    made["mask"].add_argument("--seed", metavar="N", type=int, help="partial restart: mask half of what can be masked")
    for name in ("mask", "unmask"):
        made[name].add_argument("--version", metavar="vN", nargs="+", action="extend", default=[], help="versions")
        made[name].add_argument("--reason", metavar="TEXT", required=True, help="why")


def run(args: argparse.Namespace) -> int:
    """Run the sub-command; exit 1 for a masked version or a refused field."""
    workspace = Workspace.open(args.path)
    actions = {
        "init": _init, "create": _create, "update": _update, "mask": _mask, "unmask": _unmask,
        "read": _read, "latest": _latest, "list": _list, "summary": _summary,
    }  # fmt: skip
    return int(actions[args.action](workspace, args))


def _rendered(workspace: Workspace, args: argparse.Namespace, body: Mapping[str, object], text: str) -> int:
    report = render_workspace(workspace)
    if args.json:
        print_json({**body, "render": report.to_json()})
    else:
        print(f"{text}\n{show(report)}".strip())
    return ExitCode.OK


def _init(workspace: Workspace, args: argparse.Namespace) -> int:
    try:
        workspace.layout.memory.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"can't be made: {error.strerror or error}", where=str(workspace.layout.memory), code="KB112"
        ) from error
    _name_stray(read_memory(workspace))
    return _rendered(workspace, args, {"path": str(workspace.layout.memory)}, "")


def _create(workspace: Workspace, args: argparse.Namespace) -> int:
    given = [args.category, args.claim, args.expected]
    if any(given) and not all(given):
        raise BadInput(
            "half a hypothesis", where="kb memory create", fix="give --category, --claim and --expected", code="KB102"
        )
    stated = edit.Hypothesis(*given) if all(given) else None
    wanted = parse_version(args.version) if args.version else None
    number = edit.create_version(workspace, wanted, stated, args.by)
    return _rendered(workspace, args, {"version": f"v{number}"}, f"v{number} began")


def _update(workspace: Workspace, args: argparse.Namespace) -> int:
    entries = []
    for word in args.entries:
        field, equals, text = word.partition("=")
        if not equals or not field:
            raise BadInput(
                f"{word!r} is not FIELD=TEXT", where="--set", fix=f"fields: {', '.join(edit.FREE_TEXT)}", code="KB104"
            )
        entries.append((field, text))
    events = edit.add_entries(workspace, parse_version(args.version), entries, args.by)
    body = {"version": args.version, "events": [one.seq for one in events]}
    return _rendered(workspace, args, body, f"added {len(events)} to {args.version}")


def _mask(workspace: Workspace, args: argparse.Namespace) -> int:
    if (args.seed is None) == (not args.version):
        raise BadInput(
            "name versions or a seed, one of the two",
            where="kb memory mask",
            fix="--version v3 or --seed 7",
            code="KB102",
        )
    if args.seed is not None:
        hidden = edit.mask_half(workspace, args.seed, args.reason)
    else:
        hidden = edit.mask(workspace, [parse_version(one) for one in args.version], args.reason)
    return _changed(workspace, args, "masked", hidden)


def _unmask(workspace: Workspace, args: argparse.Namespace) -> int:
    if not args.version:
        raise BadInput("no version", where="kb memory unmask", fix="--version v3", code="KB102")
    return _changed(
        workspace, args, "unmasked", edit.unmask(workspace, [parse_version(one) for one in args.version], args.reason)
    )


def _changed(workspace: Workspace, args: argparse.Namespace, word: str, versions: tuple[int, ...]) -> int:
    names = [f"v{number}" for number in versions]
    text = f"{word}: {', '.join(names) or 'nothing, that is how it was'}"
    return _rendered(workspace, args, {word: names}, text)


def _name_stray(memory: Memory) -> None:
    for name in memory.stray:
        print(f"kb: memory/{name}: is no version of this journal; it is left alone", file=sys.stderr)


def _read(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    if args.version is None:
        print_json([field_of(one, args.field or "") for one in memory.visible])
    else:
        _print_one(field_of(memory.get(parse_version(args.version)), args.field or ""), args)
    return ExitCode.OK


def _latest(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    _print_one(field_of(memory.latest, args.field or ""), args)
    return ExitCode.OK


def _print_one(value: JSON, args: argparse.Namespace) -> None:
    if isinstance(value, str) and not args.json:
        print(value)
    else:
        print_json(value)


def _list(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    visible = [one.version for one in memory.visible]
    masked = [f"v{number}" for number in memory.masked]
    if args.json:
        print_json({"versions": visible, "masked": masked, "stray": list(memory.stray)})
    else:
        print("\n".join([*visible, *(f"{name} (masked)" for name in masked)]))
    return ExitCode.OK


_COLUMNS = ("Version", "Masked", "Latency us", "TFLOPS", "GB/s", "TFLOPS %", "GB/s %", "Status", "Action")
_NUMBERS = (
    "latency_us", "tflops", "bandwidth_gbps", "tflops_peak_utilization_pct", "bandwidth_peak_utilization_pct",
)  # fmt: skip


def _summary(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    documents: dict[int, object] = {number: {"version": f"v{number}", "masked": True} for number in memory.masked}
    rows = {number: (f"v{number}", "yes", *["-"] * 7) for number in memory.masked}
    for one in memory.visible:
        numbers = {name: getattr(one.performance, name) for name in _NUMBERS}
        action = one.optimization.action_description if one.optimization else ""
        head = {"version": one.version, "masked": False}
        documents[one.number] = {**head, **numbers, "status": one.status, "action": action}
        cells = [json.dumps(number) if number is not None else "-" for number in numbers.values()]
        rows[one.number] = (one.version, "no", *cells, one.status, " ".join(action.split())[:60])
    if args.json:
        print_json({"versions": [documents[number] for number in sorted(documents)], "stray": list(memory.stray)})
    else:
        print(table([_COLUMNS, *(rows[number] for number in sorted(rows))], right=range(2, 7)))
    return ExitCode.OK
