"""Changes of a text at exact places; everything else stays byte for byte."""

from __future__ import annotations

import ast
import io
from dataclasses import dataclass, field

__all__ = ["Edits"]


@dataclass
class Edits:
    """Changes of one text that do not overlap."""

    text: str
    changes: list[tuple[int, int, str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find where lines begin."""
        at = 0
        for line in io.StringIO(self.text, newline=""):  # as Python ends lines
            self.starts.append(at)
            at += len(line)
        self.starts.append(at)

    def offset(self, line: int, column: int) -> int:
        """Return the index of a place that `ast` names by line and column in UTF-8."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())

    def begin(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node ends."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def replace(self, begin: int, end: int, text: str) -> None:
        """Put a text in the place of another."""
        self.changes.append((begin, end, text))

    def line_start(self, node: ast.stmt) -> int | None:
        """Return where the line of a statement begins, or None when something stands before it."""
        start = self.starts[node.lineno - 1]
        return start if not self.text[start : self.begin(node)].strip() else None

    def indent(self, node: ast.stmt) -> str:
        """Return the white space before a statement."""
        return self.text[self.starts[node.lineno - 1] : self.begin(node)]

    def done(self, begin: int = 0, end: int | None = None) -> str:
        """Return the changed text, or the part between two places of the old one."""
        end = len(self.text) if end is None else end
        out, at = [], begin
        inside = [one for one in self.changes if begin <= one[0] and one[1] <= end]
        for start, stop, text in sorted(inside, key=lambda one: (one[0], one[1])):
            out += [self.text[at:start], text]
            at = stop
        return "".join([*out, self.text[at:end]])
