"""One child process in a session of its own: started, watched by its limits, and ended with all it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kopt_kb.errors import BadInput
from kopt_kb.runners.candidate.job import Ending, RunLimits, Started
from kopt_kb.runners.process_start import start_ticks

__all__ = ["MAX_PRINTED_BYTES", "TOO_MUCH_PRINTED", "Ended", "read_tail", "watch"]

MAX_PRINTED_BYTES = 64 << 20
"""A child that prints more is ended: nobody reads it, and it would fill the disk."""

TOO_MUCH_PRINTED = f"printed more than {MAX_PRINTED_BYTES >> 20} MiB"

_POLL_S = 0.05
_TAIL_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended.

    Attributes:
        code: Exit status; negative: the signal that ended it.
        ending: Why this program ended it (`hang`, `oom`, `limit`: it printed too much); None when it ended by itself.
        wall_s: Seconds it took.
    """

    code: int
    ending: Ending | None
    wall_s: float


def watch(
    argv: Sequence[str],
    *,
    printed: IO[bytes],
    env: Mapping[str, str],
    limits: RunLimits,
    started: Started,
    folder: Path | None = None,
) -> Ended:
    """Run a command to its end or its limits, and end everything left in its session.

    Args:
        argv: Command line.
        printed: Gets stdout and stderr, at most `MAX_PRINTED_BYTES` and what comes until the next look.
        env: The whole environment.
        limits: Wall time, and memory that all processes of the session may hold.
        started: Called with command line, process id and its start ticks once the child runs.
        folder: Where it runs; None: here.

    Raises:
        BadInput: The command is no program that can be started.
    """
    begin = time.monotonic()
    try:
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True,
            env=dict(env), cwd=folder,
        )  # fmt: skip
    except OSError as error:
        what = f"can't be started: {error.strerror or error}"
        raise BadInput(what, where=argv[0], fix="name a command that can be run here", code="KB126") from error
    try:
        started(tuple(argv), child.pid, start_ticks(child.pid))
        ending = _wait(child, begin + limits.wall_s, limits.resident_bytes, printed)
    finally:
        _kill_session(child)
    return Ended(child.returncode, ending, time.monotonic() - begin)


def _wait(child: subprocess.Popen[bytes], end: float, resident_bytes: int, printed: IO[bytes]) -> Ending | None:
    """Wait until the child ends; return why it was ended, or None when it ended by itself."""
    most = printed.tell() + MAX_PRINTED_BYTES
    while True:
        try:
            child.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                return "hang"
            if resident_bytes and _resident_bytes(child.pid) > resident_bytes:
                return "oom"
            if os.fstat(printed.fileno()).st_size > most:
                return "limit"
        else:
            return "limit" if os.fstat(printed.fileno()).st_size > most else None


def read_tail(path: Path) -> str:
    """Return the end of what a child printed, at most 64 kB; empty when there is no such file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return ""


def _kill_session(child: subprocess.Popen[bytes]) -> None:
    """End the child and everything it started in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _resident_bytes(session: int) -> int:
    """Return what all processes of a session hold: a candidate may run in a child of the child."""
    page, total = os.sysconf("SC_PAGE_SIZE"), 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                    total += int((folder / "statm").read_text().split()[1]) * page
            except (OSError, ValueError, IndexError):  # it ended meanwhile
                continue
    return total
