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
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.wire import JSON, Wire
from kopt_kb.cli.kit.output import add_author, add_common, print_of, print_plain, table
from kopt_kb.packs.memory_form import memory_edit as edit
from kopt_kb.packs.memory_form.attempts import FOLDER, Memory, field_of, parse_version, read_memory
from kopt_kb.packs.memory_form.memory_model import Iteration
from kopt_kb.quantity.readable import rounded
from kopt_kb.workspace.rounds import Status
from kopt_kb.workspace.views.render import RenderReport, render_workspace
from kopt_kb.workspace.views.words import plain
from kopt_kb.workspace.workspace import Workspace

__all__ = ["MemoryChange", "MemoryList", "MemorySummary", "add_arguments", "run"]

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


@dataclass(frozen=True, slots=True)
class MemoryChange(Wire):
    """What a sub-command changed, and the rendering that followed.

    Attributes:
        path: The folder, of `init`.
        version: The version that began or got words.
        events: Sequence numbers of the words' events.
        masked: Versions that were visible before.
        unmasked: Versions that were masked before.
    """

    WIRE: ClassVar = ("path?", "version?", "events?", "masked?", "unmasked?", "render")
    render: RenderReport
    path: str | None = None
    version: str | None = None
    events: tuple[int, ...] | None = None
    masked: tuple[str, ...] | None = None
    unmasked: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MemoryList(Wire):
    """Names of the versions that readers see, of the masked ones, and of files that are no version."""

    versions: tuple[str, ...]
    masked: tuple[str, ...]
    stray: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskedVersion(Wire):
    """A version that no reader may see: its name alone."""

    version: str
    masked: Literal[True] = True


@dataclass(frozen=True, slots=True)
class VersionLine(Wire):
    """A version's numbers, null where there is none, how it ended, and what it tried."""

    version: str
    masked: Literal[False]
    latency_us: float | None
    tflops: float | None
    bandwidth_gbps: float | None
    tflops_peak_utilization_pct: float | None
    bandwidth_peak_utilization_pct: float | None
    status: Status
    action: str

    @staticmethod
    def of(iteration: Iteration) -> VersionLine:
        """Return the line of a version's memory."""
        numbers = {name: getattr(iteration.performance, name) for name in _NUMBERS}
        return VersionLine(
            version=iteration.version, masked=False, **numbers, status=iteration.status, action=plain(iteration.action)
        )


@dataclass(frozen=True, slots=True)
class MemorySummary(Wire):
    """All versions in order, and names of files that are none."""

    versions: tuple[VersionLine | MaskedVersion, ...]
    stray: tuple[str, ...]


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


def _rendered(workspace: Workspace, args: argparse.Namespace, change: Callable[..., MemoryChange], text: str) -> int:
    made = change(render=render_workspace(workspace))
    if args.json:
        print_of(made, workspace.state())
    else:
        print(f"{text}\n{made.render.text}".strip())
    return ExitCode.OK


def _init(workspace: Workspace, args: argparse.Namespace) -> int:
    folder = workspace.layout.root / FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"can't be made: {error.strerror or error}", where=str(folder), code="KB112") from error
    _name_stray(read_memory(workspace))
    return _rendered(workspace, args, partial(MemoryChange, path=str(folder)), "")


def _create(workspace: Workspace, args: argparse.Namespace) -> int:
    given = [args.category, args.claim, args.expected]
    if any(given) and not all(given):
        raise BadInput(
            "half a hypothesis", where="kb memory create", fix="give --category, --claim and --expected", code="KB102"
        )
    stated = edit.Hypothesis(*given) if all(given) else None
    wanted = parse_version(args.version) if args.version else None
    number = edit.create_version(workspace, wanted, stated, args.by)
    return _rendered(workspace, args, partial(MemoryChange, version=f"v{number}"), f"v{number} began")


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
    made = partial(MemoryChange, version=args.version, events=tuple(event.seq for event in events))
    return _rendered(workspace, args, made, f"added {len(events)} to {args.version}")


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
    names = tuple(f"v{number}" for number in versions)
    change = partial(MemoryChange, masked=names) if word == "masked" else partial(MemoryChange, unmasked=names)
    text = f"{word}: {', '.join(names) or 'nothing, that is how it was'}"
    return _rendered(workspace, args, change, text)


def _name_stray(memory: Memory) -> None:
    for name in memory.stray:
        print(f"kb: memory/{name}: is no version of this journal; it is left alone", file=sys.stderr)


def _read(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    if args.version is None:
        print_plain([field_of(one, args.field or "") for one in memory.visible])
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
        print_plain(value)


def _list(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    names = tuple(f"v{number}" for number in memory.masked)
    listed = MemoryList(tuple(one.version for one in memory.visible), names, memory.stray)
    if args.json:
        print_of(listed, workspace.state())
    else:
        print("\n".join([*listed.versions, *(f"{name} (masked)" for name in names)]))
    return ExitCode.OK


_COLUMNS = ("Version", "Masked", "Latency us", "TFLOPS", "GB/s", "TFLOPS %", "GB/s %", "Status", "Action")
_NUMBERS = (
    "latency_us", "tflops", "bandwidth_gbps", "tflops_peak_utilization_pct", "bandwidth_peak_utilization_pct",
)  # fmt: skip


def _summary(workspace: Workspace, args: argparse.Namespace) -> int:
    memory = read_memory(workspace)
    _name_stray(memory)
    lines: dict[int, VersionLine | MaskedVersion] = {one: MaskedVersion(f"v{one}") for one in memory.masked}
    lines |= {one.number: VersionLine.of(one) for one in memory.visible}
    summary = MemorySummary(tuple(lines[number] for number in sorted(lines)), memory.stray)
    if args.json:
        print_of(summary, workspace.state())
    else:
        print(table([_COLUMNS, *(_cells(version) for version in summary.versions)], right=range(2, 7)))
        print("\nlatency, rates and their shares of the roofs are geometric means over all shapes")
    return ExitCode.OK


def _cells(one: VersionLine | MaskedVersion) -> tuple[str, ...]:
    if isinstance(one, MaskedVersion):
        return (one.version, "yes", *["-"] * 7)
    numbers = (getattr(one, name) for name in _NUMBERS)
    cells = ["-" if number is None else rounded(number) for number in numbers]
    return (one.version, "no", *cells, one.status, " ".join(one.action.split())[:60])
