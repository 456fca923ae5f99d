"""Packed reports (`.ncu-repz`): an `.ncu-rep` in frames of Zstandard, checked for truncation without unpacking it.

The reading library unpacks such a file when its name ends in `.ncu-repz`, and is silent about a cut one. The frames
are walked here by the lengths that stand in them (RFC 8878): header, blocks, checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["ZSTD_MAGIC", "is_packed", "loadable", "whole_frames"]

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_SUFFIX = ".ncu-repz"
_DICTIONARY_BYTES = (0, 1, 2, 4)
_CONTENT_BYTES = (0, 2, 4, 8)
_BLOCK_BYTES, _CHECKSUM_BYTES, _LENGTH_BYTES = 3, 4, 4
_REPEATED, _RESERVED = 1, 3
_AGAIN = "copy or record the report again"


def is_packed(path: Path) -> bool:
    """Return whether a report is packed."""
    with path.open("rb") as stream:
        return stream.read(len(ZSTD_MAGIC)) == ZSTD_MAGIC


def whole_frames(path: Path) -> None:
    """Check that a packed report ends where its last frame does; raises `ReportError` for a cut or damaged one."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        while (at := stream.tell()) < size:
            if not _frame(stream) or stream.tell() > size:
                raise ReportError(
                    f"truncated or damaged: the packed frame at byte {at} doesn't end in the file's {size} bytes",
                    where=path,
                    fix=_AGAIN,
                )


def _frame(stream: BinaryIO) -> bool:
    """Step over one frame and return whether it was one."""
    magic = stream.read(len(ZSTD_MAGIC))
    if int.from_bytes(magic, "little") in _SKIPPABLE:
        length = stream.read(_LENGTH_BYTES)
        stream.seek(int.from_bytes(length, "little"), 1)
        return len(length) == _LENGTH_BYTES
    if magic != ZSTD_MAGIC or not (first := stream.read(1)):
        return False
    descriptor = first[0]
    single = bool(descriptor & 0x20)
    content = _CONTENT_BYTES[descriptor >> 6] or int(single)
    stream.seek((not single) + _DICTIONARY_BYTES[descriptor & 3] + content, 1)
    while True:
        header = stream.read(_BLOCK_BYTES)
        if len(header) < _BLOCK_BYTES:
            return False
        word = int.from_bytes(header, "little")
        kind = (word >> 1) & 3
        if kind == _RESERVED:
            return False
        stream.seek(1 if kind == _REPEATED else word >> 3, 1)
        if word & 1:
            break
    if descriptor & 4:
        stream.seek(_CHECKSUM_BYTES, 1)
    return True


@contextmanager
def loadable(path: Path) -> Iterator[Path]:
    """Yield a name under which the library loads a report: its own, or for a packed one a link with its suffix."""
    if path.suffix == _SUFFIX or not is_packed(path):
        yield path
        return
    with owned_folder("kb-report-") as folder:
        link = folder / f"report{_SUFFIX}"
        link.symlink_to(path.resolve())
        yield link
