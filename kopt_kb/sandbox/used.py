"""What processes hold of a machine, counted from outside: memory, files that lie in memory or have no name, disk.

It needs no control groups. What one process has mapped and another has not is counted once; a descriptor that is on
its way through a socket is held by no process and is not seen, so who may send none is counted whole.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["below", "disk_bytes", "held_bytes"]

_PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCK = 512
_NAMELESS = ("/memfd:", "/dev/zero (deleted)")


def below(root: int) -> list[int]:
    """Return the processes that descend from one, as far as /proc shows them."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found, next_ones = [], [root]
    while next_ones:
        next_ones = [child for one in next_ones for child in children.pop(one, ())]
        found += next_ones
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError, ValueError, IndexError):  # it ended meanwhile
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    yield int(folder.name), int(parent)


def held_bytes(pids: Sequence[int], most: int = 0) -> int:
    """Return the memory that processes hold together, files without a name included; shared pages count for each.

    Args:
        pids: The processes.
        most: Files that are mapped and open nowhere are looked for only where address spaces pass this.
    """
    total = space = 0
    nameless: dict[tuple[int, int], int] = {}
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            words = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
            space, total = space + int(words[0]) * _PAGE, total + int(words[1]) * _PAGE
        nameless.update(_open_files(pid))
    if space > most:
        for pid in pids:
            for which, size in _mapped_files(pid):
                nameless.setdefault(which, size)
    return total + sum(nameless.values())


def _open_files(pid: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield (device, inode) and bytes of open files that have no name left."""
    try:
        names = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return
    for name in names:
        with suppress(OSError):
            one = name.stat()
            if not one.st_nlink and stat.S_ISREG(one.st_mode):
                yield (one.st_dev, one.st_ino), one.st_blocks * _BLOCK


def _mapped_files(pid: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield (device, inode) and size of shared mappings whose file has no name."""
    sizes: dict[tuple[int, int], int] = {}
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
            place, rights, _, device, inode, *name = line.split(maxsplit=5)
            if rights[3] != "s" or rights[:2] == "--" or not name or not name[0].startswith(_NAMELESS):
                continue
            begin, _, end = place.partition("-")
            major, _, minor = device.partition(":")
            which = (os.makedev(int(major, 16), int(minor, 16)), int(inode))
            sizes[which] = sizes.get(which, 0) + int(end, 16) - int(begin, 16)
    yield from sizes.items()


def disk_bytes(folders: Iterable[Path]) -> int:
    """Return what the files below folders take on their disk; /proc is on none, and a walk through it takes 0.1 s."""
    total = 0
    left = [one for one in map(os.fspath, folders) if one != "/proc"]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for one in entries:
                with suppress(OSError):
                    if one.is_dir(follow_symlinks=False):
                        left.append(one.path)
                    else:
                        total += one.stat(follow_symlinks=False).st_blocks * _BLOCK
    return total
