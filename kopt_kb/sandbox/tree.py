"""A file tree of a child's own: what it is shown lies there read-only, what it may write is laid over, no more.

What is absent can't be read, locked or connected to, and what is read-only keeps its modes, times and attributes. The
tree is a tmpfs with mounts in it, and becomes the root. Needs the privileges that a user namespace gives to its first
process, and a mount namespace (mount(2), mount_setattr(2), pivot_root(2)).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.sandbox.kernel import DETACH, invoke, mount, pivot_root
from kopt_kb.sandbox.mounts import read_only_below

__all__ = ["ShownPlaces", "own_tree", "plan"]

_NO_SUID, _NO_DEVICES, _BIND, _RECURSIVE = 2, 4, 4096, 16384
_SET_ATTRIBUTES, _BELOW, _READ_ONLY = 442, 0x8000, 1
"""Number of mount_setattr, the same on every architecture; AT_RECURSIVE; MOUNT_ATTR_RDONLY."""
_MOST_LINKS = 40
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a mount
_FOR_DESCRIPTORS = {
    "/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownPlaces:
    """Places as they are: links by their place, and files and folders that no link leads to."""

    links: dict[str, str]
    places: tuple[str, ...]


def plan(asked: Iterable[str]) -> ShownPlaces:
    """Follow every link on the way to the places; those that are not there are left out, those in others too."""
    links: dict[str, str] = {}
    found = {real for one in asked if (real := _followed(os.path.abspath(one), links)) is not None}  # noqa: PTH100
    kept: list[str] = []
    for one in sorted(found, key=lambda one: one + "/"):  # what lies in a place comes right behind it
        if not (kept and (one + "/").startswith(kept[-1].rstrip("/") + "/")):
            kept.append(one)
    return ShownPlaces({one: to for one, to in links.items() if not _covered(one, kept)}, tuple(kept))


def _covered(place: str, kept: Sequence[str]) -> bool:
    return any(place.startswith(one.rstrip("/") + "/") for one in kept)


def _followed(place: str, links: dict[str, str]) -> str | None:
    left, here = [one for one in reversed(place.split("/")) if one], ""
    count = 0
    while left:
        here = f"{here}/{left.pop()}"
        try:
            if not stat.S_ISLNK(os.lstat(here).st_mode):
                continue
            target = str(Path(here).readlink())
        except OSError:
            return None
        count += 1
        if count > _MOST_LINKS:
            return None
        links[here] = target
        joined = os.path.normpath(os.path.join(os.path.dirname(here), target))  # noqa: PTH118, PTH120
        left += [one for one in reversed(joined.split("/")) if one]
        here = ""
    return here or "/"


def own_tree(stage: Path, shown: ShownPlaces, writable: Sequence[Path], *, shared_bytes: int = 0) -> None:
    """Make the tree and enter it; the working folder stays the same where it is shown.

    Args:
        stage: An empty folder where the tree is made, below none of the others.
        shown: What may be read.
        writable: Folders that may be written, by their real paths; /dev/shm is an empty one of the child's own. Devices
            among what is shown can be written as ever: a read-only mount keeps their modes and times alone.
        shared_bytes: Most bytes in /dev/shm; 0: half of the memory, as everywhere.

    Raises:
        OSError: It could not be had; nothing is changed then.
    """
    here, top = os.getcwd(), str(stage)  # noqa: PTH109
    mount("tmpfs", top, "tmpfs", _NO_SUID | _NO_DEVICES, "size=4m,mode=755")
    try:
        _furnish(top, shown, [str(one) for one in writable], shared_bytes)
        os.chdir(top)
        pivot_root()
    except OSError:
        os.chdir(here)
        with suppress(OSError):
            invoke("umount2", os.fsencode(top), DETACH)
        raise
    with suppress(OSError):
        os.chdir(here)


def _furnish(top: str, shown: ShownPlaces, writable: Sequence[str], shared_bytes: int) -> None:
    for one in shown.places:
        _place_for(top, one)
        mount(one, top + one, None, _BIND | _RECURSIVE)
    for one in writable:
        _place_for(top, one)
    for one, target in {**shown.links, **_FOR_DESCRIPTORS}.items():
        with suppress(FileExistsError):
            os.makedirs(os.path.dirname(top + one), exist_ok=True)  # noqa: PTH103, PTH120
            Path(top + one).symlink_to(target)
    _protect(top)
    for one in writable:
        if one == _SHARED_MEMORY:
            mount("tmpfs", top + one, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode=1777,size={shared_bytes or '50%'}")
        else:
            mount(one, top + one, None, _BIND | _RECURSIVE)


def _place_for(top: str, place: str) -> None:
    """Make what a mount needs to lie on, unless it is there."""
    target = top + place
    if os.path.lexists(target):
        return
    if stat.S_ISDIR(os.stat(place).st_mode):  # noqa: PTH116
        os.makedirs(target, exist_ok=True)  # noqa: PTH103
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))


def _protect(top: str) -> None:
    """Make the tree read-only, with all that is mounted in it."""
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", _READ_ONLY | _NO_SUID, 0, 0, 0), 32)
    try:
        invoke("syscall", _SET_ATTRIBUTES, -100, os.fsencode(top), _BELOW, attributes, ctypes.c_size_t(32))
    except OSError:  # a kernel before 5.12
        read_only_below(Path(top))
