"""What a process in a mount namespace of its own sees: everything read-only but its folders, and its own /proc.

For machines without Landlock, and beside it: mounts hold for every access, whatever opened the file. Needs the
privileges that a user namespace gives to its first process (mount(2), mount_namespaces(7)).
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import Path

__all__ = ["PROC", "keep_private", "machine_files_kept", "own_proc", "read_only"]

PROC = Path("/proc")

_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
"""MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE of sys/mount.h."""
_KEPT = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21}
"""Flags of a mount that a user namespace may not take off: option → MS_ flag."""
_NO_FILES = frozenset({"proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "mqueue", "securityfs", "bpf"})


def keep_private() -> None:
    """Keep what is mounted in this mount namespace out of all others; raises `OSError`."""
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)


def read_only(folders: Sequence[Path]) -> None:
    """Make all file systems read-only for this process and what it starts, but these folders.

    The process must be in a mount namespace of its own that is private.

    Raises:
        OSError: A mount could not be made read-only; nothing may be taken for held then.
    """
    for folder in folders:
        _mount(str(folder), str(folder), None, _BIND | _RECURSIVE)
    for place, kind, options in _mounts():
        below_ours = any(place == one or one in place.parents for one in folders)
        if below_ours or kind in _NO_FILES or "ro" in options:  # devices of a read-only mount can still be written
            continue
        kept = sum(flag for name, flag in _KEPT.items() if name in options)
        try:
            _mount(None, str(place), None, _REMOUNT | _BIND | _READ_ONLY | kept)
        except FileNotFoundError:  # it lies under a later mount
            continue


def own_proc() -> None:
    """Show the processes of this pid namespace in /proc, and no others; raises `OSError`."""
    _mount("proc", "/proc", "proc", 2 | 4 | 8)


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
                _mount(str(place), str(place), None, _BIND | _RECURSIVE)
                _mount(None, str(place), None, _REMOUNT | _BIND | _READ_ONLY | 2 | 4 | 8)
    except OSError:
        return False
    return True


def _mounts() -> list[tuple[Path, str, set[str]]]:
    """Return (place, kind of file system, options) of all mounts (proc(5), mountinfo)."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        words = line.split()
        kind = words[words.index("-") + 1]
        place = re.sub(r"\\([0-7]{3})", lambda one: chr(int(one[1], 8)), words[4])
        found.append((Path(place), kind, set(words[5].split(","))))
    return found


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    words = [None if one is None else os.fsencode(one) for one in (source, target, kind)]
    if library.mount(*words, ctypes.c_ulong(flags), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)
