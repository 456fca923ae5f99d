"""Files that may be packed by gzip, unpacked piece by piece: memory stays small whatever the file claims to hold."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import IO

from kopt_kb.analysis.readers.common.base import GZIP_MAGIC
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["Unpacked", "open_unpacked"]

_FREE_BYTES = 1 << 26
_RATIO = 256  # traces of one repeated event shrink to a hundredth


class Unpacked:
    """The content of a gzip file.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._allowed = _FREE_BYTES + _RATIO * path.stat().st_size
        self._stream = gzip.GzipFile(path)

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes, none at the end.

        Raises:
            ReportError: The file is cut or damaged, or unpacks to more than any report does.
        """
        try:
            data = self._stream.read(size)
        except (EOFError, OSError, zlib.error) as error:
            raise ReportError(
                f"damaged gzip file: {error}", where=self._path, fix="copy or record the report again"
            ) from error
        self._allowed -= len(data)
        if self._allowed < 0:
            raise ReportError(
                f"unpacks to more than {_RATIO} times its size, which no report does",
                where=self._path,
                fix="unpack it yourself if you trust it",
            )
        return data

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def open_unpacked(path: Path) -> IO[bytes] | Unpacked:
    """Open a file; one that starts as gzip does is unpacked while it is read."""
    stream = path.open("rb")
    magic = stream.read(len(GZIP_MAGIC))
    if magic == GZIP_MAGIC:
        stream.close()
        return Unpacked(path)
    stream.seek(0)
    return stream
