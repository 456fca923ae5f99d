"""What a caged child tries before anything of a stranger runs: a wall is held only if it stood when it was tried.

Whoever forks the child plants files and listening sockets outside the cage. Part of them lies among what the child is
shown, as packages do; the rest is as a user's other files are.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import struct
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from kopt_kb.sandbox.isolation import LOCKS, METADATA, READS, SOCKETS, WRITES, Isolation
from kopt_kb.sandbox.owned import owner_prefix

__all__ = ["Canary"]

_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - a folder of its own name is made there
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS, FS_IOC_SETFLAGS of linux/fs.h."""


class Canary:
    """Files and sockets outside a cage; `end` it. `shown` is a folder that the child may read, `stage` an empty one."""

    def __init__(self, avoid: Sequence[str]) -> None:
        """Plant them in a folder that is below none of these.

        Raises:
            OSError: There is no place for them.
        """
        self._sockets: list[socket.socket] = []
        self.folder = _new_folder(avoid)
        self.shown, self.stage, self._hidden = (self.folder / one for one in ("shown", "stage", "hidden"))
        self._abstract = f"\0kb-{secrets.token_hex(8)}"
        for one in (self.shown, self.stage, self._hidden):
            one.mkdir()
        for one in (self.shown, self._hidden):
            (one / "file").touch(0o600)
        try:
            for address in (str(self._hidden / "socket"), self._abstract):
                listening = socket.socket(socket.AF_UNIX)
                self._sockets.append(listening)
                listening.bind(address)
                listening.listen(1)
        except OSError:
            self.end()
            raise

    def end(self) -> None:
        """Take them away."""
        for one in self._sockets:
            one.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tried(self) -> Isolation:
        """Try every wall from inside; return those that stood, and why the others are not held."""
        tries: dict[str, tuple[Callable[[], object], ...]] = {
            WRITES: (self._write, self._make),
            READS: (self._read, self._list),
            METADATA: (self._mode, self._times, self._attribute, self._flags),
            SOCKETS: (lambda: self._connect(str(self._hidden / "socket")), lambda: self._connect(self._abstract)),
            LOCKS: (self._lock,),
        }
        passed = {wall: _first_passed(each) for wall, each in tries.items()}
        missing = {wall: f"tried: {what} was possible" for wall, what in passed.items() if what}
        return Isolation(tuple(wall for wall, what in passed.items() if not what), missing)

    def _read(self) -> None:
        """Reading a file outside."""
        os.close(os.open(self._hidden / "file", os.O_RDONLY))

    def _list(self) -> None:
        """Listing a folder outside."""
        next(self._hidden.iterdir())

    def _write(self) -> None:
        """Writing a file outside."""
        os.close(os.open(self.shown / "file", os.O_WRONLY))

    def _make(self) -> None:
        """Making a file outside."""
        os.close(os.open(self.shown / "new", os.O_WRONLY | os.O_CREAT, 0o600))

    def _mode(self) -> None:
        """Changing a mode outside."""
        (self.shown / "file").chmod(0o600)

    def _times(self) -> None:
        """Changing times outside."""
        os.utime(self.shown / "file")

    def _attribute(self) -> None:
        """Setting an attribute outside."""
        os.setxattr(self.shown / "file", "user.kb", b"")

    def _flags(self) -> None:
        """Setting inode flags outside."""
        with (self.shown / "file").open("rb") as file:
            flags = fcntl.ioctl(file, _GET_FLAGS, struct.pack("l", 0))
            fcntl.ioctl(file, _SET_FLAGS, flags)

    def _connect(self, address: str) -> None:
        """Connecting to a socket outside."""
        with socket.socket(socket.AF_UNIX) as one:
            one.setblocking(False)
            one.connect(address)

    def _lock(self) -> None:
        """Locking a file outside."""
        with (self.shown / "file").open("rb") as first, (self.shown / "file").open("rb") as second:
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(BlockingIOError):  # the first lock is one: that is the hole
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                raise OSError("a lock that locks nothing")


def _first_passed(tries: Sequence[Callable[[], object]]) -> str:
    """Return what the first try that succeeded did; empty where none did."""
    for one in tries:
        with suppress(OSError):
            one()
            words = (one.__doc__ or "connecting to a socket outside").rstrip(".")
            return words[0].lower() + words[1:]
    return ""


def _new_folder(avoid: Sequence[str]) -> Path:
    for place in _PLACES:
        if not any((place + "/").startswith(one.rstrip("/") + "/") for one in avoid):
            with suppress(OSError):
                return Path(tempfile.mkdtemp(prefix=owner_prefix("kb-cage-"), dir=place))
    raise OSError(28, f"no folder in {', '.join(_PLACES)} to try the cage from")
