"""Rendered blocks inside a file that people own: found by markers, replaced without touching the rest.

A block is the lines between `<!-- kb:begin NAME sha256=HEX -->` and `<!-- kb:end NAME -->`, each marker
alone on its line; HEX is the sha256 of the bytes between them. All other bytes of the file are never
touched, whatever their encoding or line ends.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput

__all__ = ["BlockError", "ViewBlock", "parse_blocks", "render_block", "replace_blocks"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_MARKER = re.compile(rb"[ \t]*<!--\s*kb:(begin|end)\b")
_BEGIN = re.compile(rb"<!-- kb:begin ([a-z0-9][a-z0-9_-]{0,63}) sha256=([0-9a-f]{64}) -->\n")
_END = re.compile(rb"<!-- kb:end ([a-z0-9][a-z0-9_-]{0,63}) -->\n?")


class BlockError(BadInput):
    """The markers of a file are wrong, or a block is missing; `where` is `file:line`."""

    code = "KB306"


@dataclass(frozen=True, slots=True)
class ViewBlock:
    """One block as it stands on disk.

    Attributes:
        name: Its name.
        sha256: The hash in its marker.
        body: The bytes between the markers.
        line: Line of the begin marker, from 1.
        start: Offset of the begin marker.
        end: Offset after the end marker.
    """

    name: str
    sha256: str
    body: bytes
    line: int
    start: int
    end: int

    @property
    def edited(self) -> bool:
        """Whether the body is not the one the marker was written for."""
        return hashlib.sha256(self.body).hexdigest() != self.sha256


@dataclass(frozen=True, slots=True)
class _Open:
    name: str
    sha256: str
    line: int
    start: int
    body_start: int


def parse_blocks(text: bytes, where: str) -> tuple[ViewBlock, ...]:
    """All blocks of a file in order.

    Args:
        text: The file's bytes.
        where: The file's name, for errors.

    Raises:
        BlockError: A malformed marker, a block inside a block, a second block of one name, a missing or
            surplus end, or a carriage return in a marker or block; with the line.
    """
    blocks: dict[str, ViewBlock] = {}
    current: _Open | None = None
    end = 0
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", text), start=1):
        place, offset, end = f"{where}:{number}", end, end + len(line)
        marker = _MARKER.match(line)
        if b"\r" in line and (marker or current):
            raise BlockError("a rendered block has CRLF line ends", where=place, fix="save the file with LF")
        if marker and marker[1] == b"begin":
            current = _begin(line, number, offset, current, place)
            if current.name in blocks:
                first = blocks[current.name].line
                raise BlockError(f"block {current.name} stands already on line {first}", where=place)
        elif marker:
            block = _end(line, offset, current, text, place)
            blocks[block.name], current = block, None
    if current:
        raise BlockError(f"block {current.name} has no end marker", where=f"{where}:{current.line}")
    return tuple(blocks.values())


def free_text(text: bytes, where: str) -> bytes:
    """Return what stands outside of a file's blocks; raises `BlockError` like `parse_blocks`."""
    parts, end = [], 0
    for block in parse_blocks(text, where):
        parts.append(text[end : block.start])
        end = block.end
    return b"".join([*parts, text[end:]])


def _begin(line: bytes, number: int, offset: int, current: _Open | None, place: str) -> _Open:
    match = _BEGIN.fullmatch(line)
    if not match:
        raise BlockError(
            "malformed begin marker", where=place, fix="<!-- kb:begin NAME sha256=64 hex digits --> alone on it"
        )
    name = match[1].decode("ascii")
    if current:
        raise BlockError(f"block {name} begins inside block {current.name} of line {current.line}", where=place)
    return _Open(name, match[2].decode("ascii"), number, offset, offset + len(line))


def _end(line: bytes, offset: int, current: _Open | None, text: bytes, place: str) -> ViewBlock:
    match = _END.fullmatch(line)
    if not match:
        raise BlockError("malformed end marker", where=place, fix="<!-- kb:end NAME --> alone on its line")
    name = match[1].decode("ascii")
    if current is None:
        raise BlockError(f"block {name} ends without a begin marker", where=place)
    if name != current.name:
        raise BlockError(f"block {name} ends inside block {current.name} of line {current.line}", where=place)
    body = text[current.body_start : offset]
    return ViewBlock(name, current.sha256, body, current.line, current.start, offset + len(line))


def render_block(name: str, body: str) -> bytes:
    """The block as bytes: both markers and the body, which gets a final newline if it lacks one.

    Raises:
        BlockError: The name is not lower-case letters, digits, `_` and `-`, or the body holds a carriage
            return, a marker, or text that is not Unicode.
    """
    if not _NAME.fullmatch(name):
        raise BlockError(f"{name!r} is no block name", where="block", fix="use a-z, 0-9, _ and -")
    data = _body_bytes(name, body)
    sha = hashlib.sha256(data).hexdigest()
    return b"<!-- kb:begin %s sha256=%s -->\n%s<!-- kb:end %s -->\n" % (
        name.encode("ascii"),
        sha.encode("ascii"),
        data,
        name.encode("ascii"),
    )


def _body_bytes(name: str, body: str) -> bytes:
    try:
        data = body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BlockError(f"block {name} holds a lone surrogate", where="block") from error
    if data and not data.endswith(b"\n"):
        data += b"\n"
    if b"\r" in data or any(_MARKER.match(line) for line in data.split(b"\n")):
        raise BlockError(f"block {name} holds a carriage return or a block marker", where="block")
    return data


def replace_blocks(text: bytes, bodies: Mapping[str, str], where: str) -> bytes:
    """The file with these blocks rendered anew, edited or not; all other bytes stay as they are.

    Raises:
        BlockError: As `parse_blocks` and `render_block`; also when a block is not in the file.
    """
    found = {block.name: block for block in parse_blocks(text, where)}
    for name in bodies.keys() - found.keys():
        raise BlockError(f"block {name} is missing", where=where, fix="put its two markers back")
    pieces, position = [], 0
    for block in found.values():
        if block.name in bodies:
            new = render_block(block.name, bodies[block.name])
            ends_open = not text[block.start : block.end].endswith(b"\n")
            pieces += [text[position : block.start], new.removesuffix(b"\n") if ends_open else new]
            position = block.end
    return b"".join([*pieces, text[position:]])
