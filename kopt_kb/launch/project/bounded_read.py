"""Reading files that a project's commands wrote: regular files of bounded size, and nothing that can block."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

__all__ = ["UnreadableError", "open_regular", "read_bounded"]


class UnreadableError(OSError):
    """A path holds no file that may be read; its text continues a sentence that begins with the path."""


def open_regular(path: Path) -> io.BufferedReader:
    """Return an open regular file.

    A pipe without a writer would block for ever, a device may have no end, and a link leads anywhere.

    Raises:
        FileNotFoundError: There is nothing.
        UnreadableError: It is a link, a folder, a pipe, a socket or a device.
        OSError: It can't be opened.
    """
    if path.is_symlink():
        raise UnreadableError("is a link, not a file of its own")
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise UnreadableError("is no regular file")
    return os.fdopen(fd, "rb")


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a regular file; raises like `open_regular`, and when it holds more than `most_bytes`."""
    with open_regular(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UnreadableError(f"is larger than {most_bytes} bytes")
    return data
