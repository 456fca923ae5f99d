"""Frames of an `.ncu-rep` file, walked to find truncation that the reading library keeps silent about.

The frame layout is the one of the chapter "Report File Format" of NVIDIA's Nsight Compute Customization Guide: magic,
length and message of the file header, then blocks of header length, header message and payload. Only frame lengths
and counts are read here; what is inside the payloads is left to NVIDIA's library.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["MAGIC", "ReportBlock", "blocks", "stored_results", "tool_version"]

MAGIC = b"NVR\x00"
_FRAMED_VERSION = 7
_VERSION, _RESULTS, _PAYLOAD = 1, 2, 5
_LENGTH = struct.Struct("<I")
_MAX_HEADER_BYTES = 1 << 28
_PROGRAM = b"Nsight Compute Target"
_RELEASE = re.compile(rb"\d{4}\.\d+\.\d+(?:\.\d+)?")
_RELEASE_WITHIN = 64
_AGAIN = "copy or record the report again"


class ReportBlock(NamedTuple):
    """One block of a report: its bytes and the number of results in it."""

    start: int
    end: int
    results: int


def stored_results(path: Path) -> int | None:
    """Return the number of results a report announces, None for a version whose frames are not known.

    Raises:
        ReportError: The magic is missing, or a frame ends beyond the file (with the byte where it starts).
    """
    found = blocks(path)
    return None if found is None else sum(one.results for one in found)


def tool_version(path: Path) -> str | None:
    """Return the release of the program that wrote a report, as it stands beside that program's name; None without."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(_PROGRAM)
        found = None if at < 0 else _RELEASE.search(data[at : at + len(_PROGRAM) + _RELEASE_WITHIN])
    return None if found is None else found[0].decode("ascii")


def blocks(path: Path) -> list[ReportBlock] | None:
    """Return the blocks of a report in file order; None and errors as `stored_results`."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise ReportError("no .ncu-rep report: the magic NVR is missing", where=path, fix=_AGAIN, code="KB204")
        header = _varints(_message(stream, path, size), path, len(MAGIC))
        if header.get(_VERSION) != _FRAMED_VERSION:
            return None
        return list(_walk(stream, path, size))


def _walk(stream: BinaryIO, path: Path, size: int) -> Iterator[ReportBlock]:
    while (start := stream.tell()) < size:
        block = _varints(_message(stream, path, size), path, start)
        end = stream.tell() + block.get(_PAYLOAD, 0)
        if end > size:
            raise _cut(path, start, size)
        yield ReportBlock(start, end, block.get(_RESULTS, 0))
        stream.seek(end)


def _message(stream: BinaryIO, path: Path, size: int) -> bytes:
    start = stream.tell()
    prefix = stream.read(_LENGTH.size)
    if len(prefix) < _LENGTH.size:
        raise _cut(path, start, size)
    (length,) = _LENGTH.unpack(prefix)
    if length > min(size - stream.tell(), _MAX_HEADER_BYTES):
        raise _cut(path, start, size)
    return stream.read(length)


def _cut(path: Path, start: int, size: int) -> ReportError:
    return ReportError(
        f"truncated or damaged: the block at byte {start} ends beyond the file's {size} bytes", where=path, fix=_AGAIN
    )


def _varints(message: bytes, path: Path, start: int) -> dict[int, int]:
    """Return the whole-number fields of a protobuf message; other fields are stepped over."""
    found: dict[int, int] = {}
    at = 0
    try:
        while at < len(message):
            key, at = _varint(message, at)
            wire = key & 7
            if wire == 0:
                found[key >> 3], at = _varint(message, at)
            elif wire == 2:
                length, at = _varint(message, at)
                at += length
            else:
                at += {1: 8, 5: 4}[wire]
        if at != len(message):
            raise IndexError
    except (IndexError, KeyError) as error:
        raise ReportError(f"damaged: unreadable header at byte {start}", where=path, fix=_AGAIN) from error
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError
