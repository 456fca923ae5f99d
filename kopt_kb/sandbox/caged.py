"""Runs a command of somebody else inside the cage: `caged` makes the command line, `main` is what it starts.

Three processes. The first stands in the session that `process.Child` made, ignores SIGTERM and ends as the command
does. The second is the first process of a pid namespace, where one can be had: when it ends, the kernel ends all that
the command started, whatever sessions they made of themselves. The third becomes the command.

What held is written as one JSON document into a file before the command starts. The first counts what all of them
hold of memory and disk together, and ends them past their limit.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NoReturn

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire, canonical, parse, read
from kopt_kb.sandbox.cage import Room, adopt_orphans, end_all, enter, settle
from kopt_kb.sandbox.canary import Canary
from kopt_kb.sandbox.cgroups import new_group
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.process import ChildLimits, end_alike, run
from kopt_kb.sandbox.seccomp import AllowedCalls
from kopt_kb.sandbox.shown import named_by, packages
from kopt_kb.sandbox.watch import COUNTED, watched

__all__ = ["Cage", "cage_here", "caged", "held_by", "main"]

_CODE = "import sys; sys.path.append(sys.argv.pop(1)); from kopt_kb.sandbox.caged import main; main()"
_NOT_FOUND, _NOT_STARTED = 127, 126
_MOST_BYTES, _HERE_S = 1 << 16, 60.0


@dataclass(frozen=True, slots=True)
class Cage(Wire):
    """What a command may use.

    Attributes:
        folders: Where it may write; devices that it may open for writing too.
        report: File for what held, written before the command starts.
        network: Whether it keeps the machine's network.
        shown: What it may read beside the system, this interpreter's packages and what its variables name.
        builds: Whether it is a build or a test of a project, which need more calls than a kernel: locks, sockets
            between their own processes, files in memory.
        memory_bytes: Of all its processes together, files in memory included; 0: no limit.
        disk_bytes: That its folders may grow by; 0: no limit.
    """

    folders: tuple[str, ...]
    report: str
    network: bool = False
    shown: tuple[str, ...] = ()
    builds: bool = False
    memory_bytes: int = 0
    disk_bytes: int = 0


def caged(argv: Sequence[str], cage: Cage) -> list[str]:
    """Return the command line that runs a command in a cage; its exit status and signals are the command's."""
    home = str(Path(__file__).resolve().parents[2])
    whole = replace(cage, shown=(*packages(), *cage.shown))
    return [sys.executable, "-I", "-S", "-c", _CODE, home, canonical(whole.to_json()).decode(), *argv]


def held_by(report: Path) -> Isolation:
    """Return what a command was held by; nothing, with the reason, where it left no report."""
    try:
        with report.open("rb") as file:
            return read(Isolation, parse(file.read(_MOST_BYTES), where=str(report)), where=str(report))
    except (OSError, KoptError) as error:
        return Isolation((), {"cage": f"no report: {error}"[:200]})


@cache
def cage_here() -> Isolation:
    """Return what a command of nobody is held by on this machine: no candidate had a hand in this report."""
    with tempfile.TemporaryDirectory(prefix="kb-cage-") as name:
        report = Path(name) / "cage.json"
        run(
            caged([sys.executable, "-I", "-S", "-c", ""], Cage((name,), str(report))),
            env={},
            limits=ChildLimits(_HERE_S),
        )
        return held_by(report)


def main() -> NoReturn:
    """Start the command of the arguments in the cage that the first of them describes."""
    document, *argv = sys.argv[1:]
    body = json.loads(document)
    cage = Cage(**{**body, "folders": tuple(body["folders"]), "shown": tuple(body["shown"])})
    report = os.open(cage.report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the command has its grace; this one waits for it
    canary = None
    with suppress(OSError):
        canary = Canary(cage.folders)
    group = new_group(cage.memory_bytes)
    around = enter(network=cage.network)
    if cage.memory_bytes or cage.disk_bytes:
        around += Isolation((COUNTED,))
    adopt_orphans()
    reading, writing = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(reading)
        _first(argv, cage, group.join(around), canary, report, writing)
    os.close(report)
    os.close(writing)
    passed = watched(first, [Path(one) for one in cage.folders], cage.memory_bytes, cage.disk_bytes)
    status = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    said = os.read(reading, 16)
    group.end()
    end_all()
    if canary is not None:
        canary.end()
    if passed:
        os.write(2, f"kb: ended: {passed}\n".encode())
    sys.exit(end_alike(int(said) if said else status))


def _first(
    argv: Sequence[str], cage: Cage, around: Isolation, canary: Canary | None, report: int, ending: int
) -> NoReturn:
    """Be the first process of the namespace: confine, start the command, collect orphans, end as it ends."""
    needs_memory = cage.builds or any(one.startswith("/dev/") for one in cage.folders)  # drivers make such files
    calls = AllowedCalls(cage.network, cage.builds, needs_memory, cage.builds, cage.builds)
    room = Room(
        [Path(one) for one in cage.folders], (*cage.shown, *named_by(os.environ)), calls,
        shared_bytes=cage.memory_bytes, own_session=False,
    )  # fmt: skip
    held = around + settle(room, canary)
    os.write(report, canonical(held.to_json()))
    os.close(report)
    command = os.fork()
    if command == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            os.execvp(argv[0], tuple(argv))  # noqa: S606 - a command of somebody else is what this is for
        except OSError as error:
            with suppress(OSError):
                os.write(2, f"{argv[0]} can't be run: {error.strerror}\n".encode())
            os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_STARTED)
    while True:
        pid, ended = os.wait()
        if pid == command:
            # The first process of a namespace can't end by a signal of its own: its parent does that for it.
            os.write(ending, str(os.waitstatus_to_exitcode(ended)).encode())
            os._exit(0)


if __name__ == "__main__":
    main()
