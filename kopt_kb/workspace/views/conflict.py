"""What stands in the way of rendering: a text on disk that is not the one last rendered."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.errors import FindingError

__all__ = ["Conflict", "Difference", "first_difference", "unified_diff"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """An edit that rendering would lose; nothing was written.

    Attributes:
        path: The file.
        name: The block or view.
        line: First line of the block, or 1.
        reason: How the disk differs from what was last rendered.
        diff: Unified diff from the new rendering to the disk.
    """

    path: Path
    name: str
    line: int
    reason: str
    diff: str

    def error(self) -> FindingError:
        """The conflict as a failure with exit code 1; the diff is for the caller to show."""
        return FindingError(
            f"{self.name}: {self.reason}; nothing was written",
            where=f"{self.path}:{self.line}",
            fix=f"keep the edit with kb adopt {self.path}, or drop it with kb render --discard {self.path}",
            code="KB305",
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two texts differ: byte offset from 0, line from 1, both lines."""

    offset: int
    line: int
    expected: str
    found: str


def first_difference(expected: bytes, found: bytes) -> Difference | None:
    """Where `found` leaves `expected`, or None when they are equal."""
    if expected == found:
        return None
    shorter = min(len(expected), len(found))
    offset = next((i for i in range(shorter) if expected[i] != found[i]), shorter)
    line = expected.count(b"\n", 0, offset) + 1
    return Difference(offset, line, _line_at(expected, offset), _line_at(found, offset))


def _line_at(text: bytes, offset: int) -> str:
    start = text.rfind(b"\n", 0, offset) + 1
    end = text.find(b"\n", offset)
    return text[start : len(text) if end < 0 else end].decode("utf-8", "replace")


def unified_diff(rendered: bytes, disk: bytes, name: str, path: Path) -> str:
    """A unified diff from the rendering to the disk; undecodable bytes are shown as U+FFFD."""
    old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (rendered, disk))
    lines = difflib.unified_diff(old, new, fromfile=f"rendered {name}", tofile=f"{path} on disk")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
