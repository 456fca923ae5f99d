"""Citations into the wiki: `<metric>: <value> <unit> <- <gpu-wiki>/<path>:L<line>`, parsed and printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["Citation", "CitationError", "Location"]

_ROOT = "<gpu-wiki>/"
_TEXT = re.compile(
    r"^\s*(?:[-*]\s+)?(?P<key>[a-z][a-z0-9_]*(?:\[[^\]\n]*\])?)\s*:\s*"
    r"(?P<value>\S+)(?:\s+(?P<unit>\S+))?\s*<-\s*<gpu-wiki>/(?P<path>[^\s:]+)"
    r"(?::(?:L?(?P<line>\d{1,9})|(?P<section>[^\s].*?)))?\s*$"
)


class CitationError(BadInput):
    """A text that is not a citation of the wiki."""

    code = "KB040"


@dataclass(frozen=True, slots=True)
class Location:
    """A line or a section of a wiki file, the path relative to the wiki's root."""

    path: str
    line: int | None = None
    section: str = ""

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.path}:L{self.line}"
        return f"{self.path}:{self.section}" if self.section else self.path


@dataclass(frozen=True, slots=True)
class Citation(Wire):
    """One cited value.

    Attributes:
        key: Metric with its conditions where the id alone does not name the row.
        value: Number, token, UNKNOWN or NONE as printed.
        unit: Unit as printed; `-` for tokens.
        location: File and line (or section) below the wiki's root.
        row_sha256: First 12 hex digits of the row's hash; empty when it was parsed from text.
    """

    WIRE: ClassVar = ("citation=text", "key", "row_sha256")
    key: str
    value: str
    unit: str
    location: Location
    row_sha256: str = ""

    @property
    def text(self) -> str:
        """The citation as documents print it."""
        return str(self)

    def __str__(self) -> str:
        symbol = "" if self.unit in {"", "-"} else f" {self.unit}"
        return f"{self.key}: {self.value}{symbol} <- {_ROOT}{self.location}"

    @classmethod
    def parse(cls, text: str) -> Citation:
        """Return the citation in a line of text; `:23`, `:L23` and `:<section>` are accepted.

        Raises:
            CitationError: The text is not of that form, or its path leaves the wiki.
        """
        match = _TEXT.match(text)
        if match is None:
            raise CitationError(
                f"not a citation: {text.strip()[:120]!r}",
                fix="write `<metric>: <value> <unit> <- <gpu-wiki>/<path>:L<line>`",
            )
        path = match["path"]
        if path.startswith("/") or ".." in path.split("/"):
            raise CitationError(f"citation leaves the wiki: {path!r}", fix="paths are relative to the wiki's root")
        line = int(match["line"]) if match["line"] else None
        if line == 0:
            raise CitationError("lines are counted from 1", where=path)
        location = Location(path, line, match["section"] or "")
        return cls(match["key"], match["value"], match["unit"] or "-", location)
