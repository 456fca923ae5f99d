"""Mounts of a process in a mount namespace of its own: its own /proc, and what lies below a place read-only.

Needs the privileges that a user namespace gives to its first process (mount(2), mount_namespaces(7)).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from kopt_kb.sandbox.kernel import mount

__all__ = ["PROC", "keep_private", "machine_files_kept", "own_proc", "read_only_below"]

PROC = Path("/proc")

_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
"""MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE of sys/mount.h."""
_KEPT = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21}
"""Flags of a mount that a user namespace may not take off: option → MS_ flag."""


def keep_private() -> None:
    """Keep what is mounted in this mount namespace out of all others; raises `OSError`."""
    mount(None, "/", None, _RECURSIVE | _PRIVATE)


def read_only_below(top: Path) -> None:
    """Make what is mounted at a place and below it read-only, mount by mount.

    Raises:
        OSError: A mount could not be made read-only; nothing may be taken for held then.
    """
    for place, options in _mounts():
        if "ro" in options or not (place == top or top in place.parents):
            continue
        kept = sum(flag for name, flag in _KEPT.items() if name in options)
        mount(None, str(place), None, _REMOUNT | _BIND | _READ_ONLY | kept)


def own_proc() -> None:
    """Show the processes of this pid namespace in /proc, and no others; raises `OSError`."""
    if os.getpid() != 1:
        raise OSError(1, "no pid namespace of its own")
    mount("proc", "/proc", "proc", 2 | 4 | 8)


def machine_files_kept() -> bool:
    """Return whether none of /proc but the files of processes can be written, having made the rest read-only.

    Programs name their threads there, and CUDA does not start where it can't (cuInit: 304). Without capabilities the
    files of the machine are open to root alone; where this is root they have to lie on read-only mounts.
    """
    if os.geteuid() != 0:
        return True
    try:
        for place in PROC.iterdir():
            if place.name.isdigit() or place.is_symlink() or not (place.is_dir() or place.stat().st_mode & 0o222):
                continue
            if not os.statvfs(place).f_flag & os.ST_RDONLY:
                mount(str(place), str(place), None, _BIND | _RECURSIVE)
                mount(None, str(place), None, _REMOUNT | _BIND | _READ_ONLY | 2 | 4 | 8)
    except OSError:
        return False
    return True


def _mounts() -> list[tuple[Path, set[str]]]:
    """Return (place, options) of all mounts (proc(5), mountinfo)."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        words = line.split()
        place = re.sub(r"\\([0-7]{3})", lambda one: chr(int(one[1], 8)), words[4])
        found.append((Path(place), set(words[5].split(","))))
    return found
