"""What a reader is: a name, a test on content, and a function from a path to kernel profiles."""

from __future__ import annotations

import gc
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.profile.timeline import Trace
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["GZIP_MAGIC", "SQLITE_MAGIC", "Reader", "ReportHead", "encoding_of", "without_collection"]

SQLITE_MAGIC = b"SQLite format 3\x00"
GZIP_MAGIC = b"\x1f\x8b"
_GZIP_BITS = 31  # zlib's word for a window of 32 KiB behind a gzip header
_HEAD_BYTES = 1 << 18


class ReportHead:
    """The start of a report, read once and shared by every reader's test.

    Attributes:
        path: The report: a file or a folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def is_folder(self) -> bool:
        """Whether the report is a folder of files."""
        return self.path.is_dir()

    @cached_property
    def data(self) -> bytes:
        """The first 256 KiB of a file; empty for a folder."""
        if self.is_folder:
            return b""
        with self.path.open("rb") as stream:
            return stream.read(_HEAD_BYTES)

    @cached_property
    def unpacked(self) -> bytes:
        """The same, out of a gzip file when it is one; what doesn't unpack is left out."""
        if not self.data.startswith(GZIP_MAGIC):
            return self.data
        try:
            return zlib.decompressobj(wbits=_GZIP_BITS).decompress(self.data, _HEAD_BYTES)
        except zlib.error:
            return b""

    @cached_property
    def text(self) -> str:
        """The same decoded: UTF-16 and UTF-8 by their byte order mark, else UTF-8 with replacements."""
        return self.data.decode(encoding_of(self.data), errors="replace")

    @cached_property
    def tables(self) -> frozenset[str]:
        """Names of tables and views of an SQLite file; empty for any other file."""
        if not self.data.startswith(SQLITE_MAGIC):
            return frozenset()
        connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            raise ReportError(
                f"damaged SQLite file: {' '.join(str(error).split())}",
                where=self.path,
                fix="copy or record the report again",
            ) from error
        finally:
            connection.close()
        return frozenset(str(name) for (name,) in rows)


def encoding_of(data: bytes) -> str:
    """Return the codec of text by its first bytes: UTF-16 (marked, or ASCII text without a mark) or UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if data[1:8:2] == b"\x00" * 4 and b"\x00" not in data[0:8:2]:
        return "utf-16-le"
    return "utf-8-sig"


@contextmanager
def without_collection() -> Iterator[None]:
    """Look for no cycles while a report is read: profiles have none, and hundreds of thousands are looked through."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Reader:
    """One report format.

    Attributes:
        id: Stable name, such as `ncu-rep` or `rocpd`; equals `Source.format` or is its prefix.
        what: The format in a reader's words, for messages.
        sniff: Whether the content is of this format; never looks at the suffix, raises only `ReportError`
            (for content that is recognised and can't be used).
        read: Yields profiles; raises `ReportError` with file and line or offset for damaged content.
        source: Adds costs of single instructions where the format keeps them apart; None where `read` has them all.
        trace: Returns kernels and what devices did over time, for formats that have times; None for the others.
    """

    id: str
    what: str
    sniff: Callable[[ReportHead], bool]
    read: Callable[[Path], Iterator[KernelProfile]]
    source: Callable[[Path, Iterator[KernelProfile]], Iterator[KernelProfile]] | None = None
    trace: Callable[[Path], Trace] | None = None
