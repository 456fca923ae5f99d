"""Limits that hold for all processes of an untrusted child together, where this process may make a cgroup (version 2).

Names of files as in the kernel's documentation, "Control Group v2". What can't be had is said, never taken for held.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.sandbox.isolation import Isolation

__all__ = ["LIMITS", "MOST_PROCESSES", "Group", "new_group"]

LIMITS = "cgroup limits"
"""What an isolation calls them."""

MOST_PROCESSES = 4096
"""Processes and threads of one child together; compilers start hundreds."""

_ROOT, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_NEEDED = ("cgroup.procs", "memory.max", "pids.max")
_END_S = 5.0


@dataclass(frozen=True, slots=True)
class Group:
    """A cgroup for one child, or why there is none."""

    folder: Path | None
    missing: str = ""

    def join(self, around: Isolation) -> Isolation:
        """Put the calling process in it, and all that it starts from then on; return what it is held by then."""
        missing = self.missing
        if self.folder is not None:
            try:
                (self.folder / "cgroup.procs").write_text("0", encoding="ascii")
            except OSError as error:
                missing = f"can't be joined: {error.strerror or error}"[:200]
            else:
                return Isolation((*around.held, LIMITS), around.missing)
        return Isolation(around.held, {**around.missing, LIMITS: missing})

    def end(self) -> None:
        """End what is left in it, and remove it."""
        if self.folder is None:
            return
        with suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1", encoding="ascii")
        until = time.monotonic() + _END_S
        while time.monotonic() < until:
            try:
                self.folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:  # a process in it has not ended yet
                time.sleep(0.02)
            else:
                return


def new_group(
    memory_bytes: int = 0, processes: int = MOST_PROCESSES, *, root: Path = _ROOT, own: Path = _OWN,
    make: Callable[[Path], None] = Path.mkdir,
) -> Group:  # fmt: skip
    """Return a new cgroup below this process's own, with limits; or a group that says why there is none.

    Args:
        memory_bytes: Memory of all processes together; 0: no limit.
        processes: Processes and threads together.
        root: Where cgroups are mounted.
        own: What says which this process is in.
        make: Makes a cgroup's folder; the kernel fills it with files.
    """
    if not (root / "cgroup.controllers").is_file():
        return Group(None, f"no cgroup v2 at {root}")
    folder: Path | None = None
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
        inside = next((line[3:] for line in lines if line.startswith("0::")), "/")
        folder = root / inside.strip("/") / f"kb-{secrets.token_hex(6)}"
        make(folder)
        lacking = [name for name in _NEEDED if not (folder / name).exists()]
        if lacking:
            Group(folder).end()
            return Group(None, f"{', '.join(lacking)} can't be set here: its controller is not handed on")
        _limited(folder, memory_bytes, processes)
    except OSError as error:
        if folder is not None:
            Group(folder).end()
        return Group(None, f"{error.strerror or error}"[:200])
    return Group(folder)


def _limited(folder: Path, memory_bytes: int, processes: int) -> None:
    (folder / "pids.max").write_text(str(processes), encoding="ascii")
    if memory_bytes:
        (folder / "memory.max").write_text(str(memory_bytes), encoding="ascii")
        for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
            if (folder / name).exists():
                (folder / name).write_text(value, encoding="ascii")
