"""A packed archive of a stranger's, read within bounds: no header is taken into memory that a name does not need."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["UNREADABLE", "archived", "chunks"]

UNREADABLE = (tarfile.TarError, EOFError, zlib.error, ValueError, RecursionError)
"""What reading a damaged archive raises: headers may hold numbers that are none, or refer to each other for ever."""

_CHUNK = 1 << 16
"""Most bytes of one read: of a file's content, and of a header, which tar reads whole."""


class _Bounded(io.RawIOBase):
    """A stream that gives no more at once than a chunk."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _CHUNK:
            raise tarfile.ReadError(f"a header is larger than {_CHUNK} bytes")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


@contextmanager
def archived(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a gzipped tar file; reading it raises what `UNREADABLE` names, and `OSError`."""
    with gzip.open(path, "rb") as stream, tarfile.open(fileobj=_Bounded(stream), mode="r:") as archive:
        yield archive


def chunks(archive: tarfile.TarFile, member: tarfile.TarInfo, most: int) -> Iterator[bytes]:
    """Yield the bytes of a member up to a number of them."""
    stream, left = archive.extractfile(member), most
    while stream is not None and left > 0 and (chunk := stream.read(min(_CHUNK, left))):
        left -= len(chunk)
        yield chunk
