"""Every child of this program: how it starts, what it may use, and how it ends with all it started.

A child leads a session of its own. Everything in that session is killed when the child ends, when it passes a limit,
and when this process is gone, however that came: an orphan would keep the GPU busy under the next measurement. The last
is done by the kernel and needs nothing of the child: it holds the reading end of a pipe, for which the kernel sends
SIGKILL to its group as soon as the writing end, which only this process has, is closed (fcntl(2), F_SETOWN, F_SETSIG,
O_ASYNC). A child that closes what it inherits, or starts a session of its own, escapes that: it is a leash, no cage.

Children are started with `subprocess`, never by a bare fork, which would copy locks and the journal's descriptor. Two
programs that are started so fork themselves, warm makers and cages: they hold neither.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from kopt_kb.sandbox.used import held_bytes

__all__ = [
    "MAX_PRINTED_BYTES",
    "Child",
    "ChildLimits",
    "Finished",
    "Passed",
    "Started",
    "end_alike",
    "environment",
    "finish",
    "read_tail",
    "run",
    "start_ticks",
]  # fmt: skip

MAX_PRINTED_BYTES = 64 << 20
"""A child that prints more is ended: nobody reads it, and it would fill the disk."""

Passed = Literal["hang", "oom", "limit"]
"""The limit a child passed: wall time, memory, or what it may print."""
Started = Callable[[tuple[str, ...], int, int | None], None]
"""Called with the command line, process id and its start ticks once a child runs."""

_POLL_S = 0.05
_LONG_S = 1e6
_TAIL_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a child may use; 0 sets no limit.

    Attributes:
        wall_s: Seconds until it has to end.
        resident_bytes: Memory that all processes of its session hold together, files in memory included.
        address_bytes: Address space of each of its processes; past it, allocations fail in the process itself.
        printed_bytes: Bytes it may print; None: `MAX_PRINTED_BYTES`.
        grace_s: Seconds between SIGTERM and SIGKILL when it is ended.
        joined: Whether it stays in the session of this process, whose own limits hold for it and which ends with it.
    """

    wall_s: float = 0.0
    resident_bytes: int = 0
    address_bytes: int = 0
    printed_bytes: int | None = None
    grace_s: float = 0.0
    joined: bool = False


_NO_LIMITS = ChildLimits()


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended.

    Attributes:
        code: Exit status; negative: the signal that ended it.
        passed: The limit for which this program ended it; None when it ended by itself.
        wall_s: Seconds it took.
        stdout: What it printed, unless that went to a log.
        stderr: Likewise.
    """

    code: int
    passed: Passed | None
    wall_s: float
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def last_line(self) -> str:
        """The last line it printed that is not blank, errors before output; empty when there is none."""
        for printed in (self.stderr, self.stdout):
            lines = [line for line in printed.decode(errors="replace").splitlines() if line.strip()]
            if lines:
                return lines[-1].strip()
        return ""


class Child:
    """A started child; `end` it.

    Args:
        argv: Program and arguments.
        env: The whole environment.
        folder: Where it runs; None: here.
        stdin: What it reads, as for `subprocess`; likewise stdout and stderr; None: what this process has.
        limits: Address space, and whether it joins this session; whoever waits for it looks after the others.

    Raises:
        OSError: It is no program that can be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        folder: Path | None = None,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = subprocess.DEVNULL,
        stderr: int | IO[bytes] | None = subprocess.DEVNULL,
        limits: ChildLimits = _NO_LIMITS,
    ) -> None:
        self._joined = limits.joined
        leash, self._held = os.pipe()
        try:
            self.process = subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, env=dict(env), cwd=folder,
                start_new_session=not limits.joined, pass_fds=() if limits.joined else (leash,),
            )  # fmt: skip
            if not limits.joined:
                _leash(leash, self.process.pid)
        except OSError:
            os.close(self._held)
            raise
        finally:
            os.close(leash)
        self.ticks = start_ticks(self.process.pid)
        if limits.address_bytes:
            most = (limits.address_bytes, limits.address_bytes)
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.process.pid, resource.RLIMIT_AS, most)

    @property
    def pid(self) -> int:
        """Its process id; of its session and group too, unless it joined this one's."""
        return self.process.pid

    def has_ended(self, timeout_s: float = 0.0) -> bool:
        """Return whether it ended by itself, after waiting for that; its id stays its own until `end`."""
        if self.process.returncode is not None:
            return True
        end, pause_s = time.monotonic() + timeout_s, 0.0005
        if timeout_s and self._noticed_end(timeout_s):
            return True
        while not self._is_gone():
            left_s = end - time.monotonic()
            if left_s <= 0:
                return False
            pause_s = min(2 * pause_s, left_s, _POLL_S)
            time.sleep(pause_s)
        return True

    def _noticed_end(self, timeout_s: float) -> bool:
        """Sleep until the child ends or the time is over; return whether it ended, False where nobody can tell."""
        try:
            ending = os.pidfd_open(self.pid)
        except OSError:  # a kernel before 5.3, or it is gone and SIGCHLD is ignored
            return False
        try:
            poll = select.poll()
            poll.register(ending, select.POLLIN)
            return bool(poll.poll(min(timeout_s, _LONG_S) * 1000))
        finally:
            os.close(ending)

    def _is_gone(self) -> bool:
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except ChildProcessError:  # SIGCHLD is ignored here: the kernel has collected it
            return True

    def end(self, grace_s: float = 0.0) -> int:
        """End what is left of its session, or it alone if it joined this one's, and return its status.

        Args:
            grace_s: Seconds to end by itself after SIGTERM; 0: SIGKILL at once.
        """
        if self.process.returncode is None:
            if grace_s and not self.has_ended():
                self._signal(signal.SIGTERM)
                self.has_ended(grace_s)
            self._signal(signal.SIGKILL)
            self.process.wait()
            os.close(self._held)
        return self.process.returncode

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid if self._joined else -self.pid, number)


def _leash(reading: int, group: int) -> None:
    """Have the kernel kill a group when the other end of its pipe is closed."""
    with contextlib.suppress(ProcessLookupError):  # it ended, and where SIGCHLD is ignored it left nothing
        fcntl.fcntl(reading, fcntl.F_SETOWN, -group)
        fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    limits: ChildLimits,
    feed: bytes = b"",
    folder: Path | None = None,
    log: IO[bytes] | None = None,
    started: Started | None = None,
) -> Finished:
    """Run a command to its end or its limits, and end everything left in its session.

    Args:
        argv: Program and arguments.
        env: The whole environment.
        limits: What it may use.
        feed: What it reads.
        folder: Where it runs; None: here.
        log: Gets stdout and stderr in one; None: they are returned.
        started: Called once it runs.

    Raises:
        OSError: It is no program that can be started.
    """
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        fed: int | IO[bytes] = subprocess.DEVNULL
        if feed:
            fed = stack.enter_context(tempfile.TemporaryFile())
            fed.write(feed)
            fed.seek(0)
        out, err = (log or stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        most = MAX_PRINTED_BYTES if limits.printed_bytes is None else limits.printed_bytes or math.inf
        printed = [(one, _size(one) + most) for one in (out, err)]  # the child shares the position in the file
        child = Child(
            argv, env=env, folder=folder, stdin=fed, stdout=out, stderr=subprocess.STDOUT if log else err,
            limits=limits,
        )  # fmt: skip
        passed: Passed | None = None
        try:
            if started is not None:
                started(tuple(argv), child.pid, child.ticks)
            passed = _watch(child, limits, begin, printed)
        finally:
            code = child.end(limits.grace_s if passed else 0.0)
        texts = (b"", b"") if log else tuple(_read(one) for one in (out, err))
        return Finished(code, passed, time.monotonic() - begin, *texts)


def finish(child: Child, limits: ChildLimits, log: IO[bytes]) -> Finished:
    """Wait until a started child ends or passes its limits, counted from now, and end all that is left of its session.

    Args:
        child: One that `Child` started.
        limits: What it may use from now on.
        log: Where it prints.
    """
    begin, passed = time.monotonic(), None
    most = MAX_PRINTED_BYTES if limits.printed_bytes is None else limits.printed_bytes or math.inf
    try:
        passed = _watch(child, limits, begin, [(log, _size(log) + most)])
    finally:
        code = child.end(limits.grace_s if passed else 0.0)
    return Finished(code, passed, time.monotonic() - begin)


def _watch(
    child: Child, limits: ChildLimits, begin: float, printed: Sequence[tuple[IO[bytes], float]]
) -> Passed | None:
    """Wait until the child ends; return the limit it passed, or None when it ended by itself."""

    def prints_too_much() -> bool:
        return any(_size(file) > most for file, most in printed)

    while not child.has_ended(_POLL_S):
        if limits.wall_s and time.monotonic() - begin >= limits.wall_s:
            return "hang"
        most = limits.resident_bytes
        if most and held_bytes(_of_session(child.pid), most) > most:
            return "oom"
        if prints_too_much():
            return "limit"
    return "limit" if prints_too_much() else None


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _of_session(session: int) -> list[int]:
    """Return all processes of a session: a candidate may run in a child of the child."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
                if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                    found.append(int(folder.name))
    return found


def end_alike(code: int) -> int:
    """End as a child did: by the same signal, else return its status."""
    if code < 0:
        if -code not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def environment(
    more: Mapping[str, str] | None = None,
    *,
    keep: Collection[str] | None = None,
    first: Sequence[Path] = (),
    ours: bool = False,
) -> dict[str, str]:
    """Return the environment of a child.

    Args:
        more: Variables laid over it.
        keep: Names of variables that are passed on; None: all.
        first: Folders that its Python looks in before those of PYTHONPATH.
        ours: Whether it is a part of this package and has to find it. Its folder comes last: this process found it
            after the folders of PYTHONPATH too, and another order would find other versions of other packages.
    """
    own = {name: value for name, value in os.environ.items() if keep is None or name in keep}
    named = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    home = [Path(__file__).resolve().parents[2]] if ours else []
    if first or home:
        own["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(map(str, (*first, *named, *home))))
    return {**own, **(more or {})}


def read_tail(path: Path) -> str:
    """Return the end of what a child printed, at most 64 kB; empty when there is no such file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return ""


def start_ticks(pid: int) -> int | None:
    """Return when the kernel says a process started, in clock ticks since boot; None where it can't be read.

    A process id alone may belong to a later process.
    """
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
