"""The few operating system calls that durability rests on, replaceable in tests."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["Files", "read_regular", "replace_file", "sweep", "sync_folder", "temporary_name"]

TEMPORARY_PREFIX = ".kb-tmp-"


class Files:
    """System calls on one open file; a test overrides them to record, to fail or to stop half-way."""

    def open(self, path: Path, flags: int) -> int:
        """A descriptor; new files get the mode 0644 less the umask."""
        return os.open(path, flags, 0o644)

    def lock(self, fd: int) -> None:
        """Take the exclusive lock or raise BlockingIOError at once."""
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, fd: int, data: bytes) -> int:
        """One write; the number of bytes the system took."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Return once the file's bytes are on the device."""
        os.fsync(fd)

    def truncate(self, fd: int, size_bytes: int) -> None:
        """Cut the file to this size."""
        os.ftruncate(fd, size_bytes)

    def close(self, fd: int) -> None:
        """Give the descriptor, and with it the lock, back."""
        os.close(fd)

    def sync_folder(self, path: Path) -> None:
        """Return once the folder's entries are on the device."""
        sync_folder(path)


def sync_folder(path: Path) -> None:
    """Return once the folder's entries (a new or renamed file) are on the device."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def temporary_name(path: Path) -> Path:
    """A fresh name in the same folder, so that a rename to `path` stays on one file system."""
    return path.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")


def read_regular(path: Path) -> bytes | None:
    """The file's bytes, or None when nothing has this name.

    Raises:
        OSError: It is a link, a folder or a device, or can't be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link, not a regular file", str(path)) from error
        raise
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return file.read()


def replace_file(path: Path, data: bytes, *, expected: bytes | None, mode: int = 0o644) -> bool:
    """Put `data` in place of `expected` (None: of nothing) in one step, durably.

    The disk is compared again directly before the rename, so that an edit made meanwhile is not lost.
    An existing file keeps its permissions; links are not followed.

    Returns:
        True when the file now holds `data`; False, with nothing changed, when the disk held something
        else than `expected`.

    Raises:
        OSError: The folder can't be written; nothing is left behind.
    """
    with _temporary(path, mode) as (temporary, fd):
        with os.fdopen(fd, "wb", closefd=False) as file:
            file.write(data)
            file.flush()
        if expected is not None:
            os.fchmod(fd, stat.S_IMODE(os.lstat(path).st_mode))
        os.fsync(fd)
        if read_regular(path) != expected:
            temporary.unlink()
            return False
        temporary.replace(path)
    sync_folder(path.parent)
    return True


@contextmanager
def _temporary(path: Path, mode: int) -> Iterator[tuple[Path, int]]:
    """A new file in the same folder, locked for as long as it is written; on an exception it is removed."""
    while True:
        temporary = temporary_name(path)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        fcntl.flock(fd, fcntl.LOCK_EX)
        if os.fstat(fd).st_nlink:
            break
        os.close(fd)  # a sweep came between the two calls and took it for a leftover
    try:
        yield temporary, fd
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


def sweep(folder: Path) -> int:
    """Remove the temporary files that killed writers left in a folder; return how many.

    A writer holds a lock on its temporary file, which ends with its process: what can be locked has no owner. What
    can't be opened or removed is left alone.
    """
    removed = 0
    for path in folder.glob(f"{TEMPORARY_PREFIX}*"):
        with suppress(OSError):
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
                removed += 1
            finally:
                os.close(fd)
    return removed
