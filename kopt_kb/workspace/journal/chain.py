"""The hash chain over the journal's lines, on bytes alone.

A line is canonical JSON whose last member `zh` is sha256 over the previous line's `zh` and the bytes
before that member. The chain finds every edit, insertion, removal and reordering before its end. It
can't find that whole lines were cut off the end, nor a rewrite of the entire file with fresh hashes:
the head recorded in the trailer of a git commit is the anchor for those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kopt_kb.base.errors import BadInput

if TYPE_CHECKING:
    from kopt_kb.base.error_codes import Code

__all__ = ["GENESIS", "Head", "JournalError", "Line", "good_end", "scan", "seal"]

GENESIS = "0" * 64
"""The `zh` that stands before the first line."""

_OPENING, _CLOSING = b',"zh":"', b'"}'
_FRAME_BYTES = len(_OPENING) + len(GENESIS) + len(_CLOSING)


class JournalError(BadInput):
    """The journal is damaged, missing or can't be written; `where` is `file:line` or the file."""

    code: ClassVar[Code] = "KB302"


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the last event's number (0 for none) and hash."""

    seq: int
    zh: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line whose place in the chain holds: number from 1, bytes without the newline, hash."""

    number: int
    raw: bytes
    zh: str


def seal(body: bytes, previous: str) -> tuple[bytes, str]:
    """Close a canonical JSON object with its place in the chain.

    Args:
        body: The object without `zh`, not empty.
        previous: Hash of the line before.

    Returns:
        The line with its newline, and its hash.
    """
    start = body[:-1]
    zh = _link(previous, start)
    return start + _frame(zh) + b"\n", zh


def scan(data: bytes, where: str) -> Iterator[Line]:
    """All whole lines in order; what follows the last newline is not looked at unless it is damage.

    Args:
        data: The file's bytes.
        where: The file's name, for errors.

    Raises:
        JournalError: A line that ends in a newline doesn't continue the chain, or the bytes after the
            last newline are a whole event whose newline was altered (a torn write never is one).
    """
    previous, number = GENESIS, 0
    *lines, tail = data.split(b"\n")
    for number, raw in enumerate(lines, start=1):
        zh = _unseal(raw, previous)
        if zh is None:
            raise _broken(where, number)
        yield Line(number, raw, zh)
        previous = zh
    if _unseal(tail[:-1], previous) is not None:
        raise _broken(where, number + 1)


def good_end(data: bytes) -> int:
    """Number of bytes up to and with the last newline; the rest is a torn write."""
    return data.rfind(b"\n") + 1


def _link(previous: str, start: bytes) -> str:
    return hashlib.sha256(previous.encode("ascii") + start).hexdigest()


def _frame(zh: str) -> bytes:
    return _OPENING + zh.encode("ascii") + _CLOSING


def _unseal(raw: bytes, previous: str) -> str | None:
    start = raw[:-_FRAME_BYTES]
    zh = _link(previous, start)
    return zh if start and raw[-_FRAME_BYTES:] == _frame(zh) else None


def _broken(where: str, number: int) -> JournalError:
    return JournalError(
        "this line does not continue the hash chain: it was edited, moved or damaged",
        where=f"{where}:{number}",
        fix="restore the file from a backup or a commit; nothing after the line before it can be trusted",
    )
