"""A sheet: the rows of a product page with those of its target and measured pages, and what was found about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypedDict

from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.names import FrontMatter
from kopt_kb.wiki.row import Row

__all__ = ["MAX_BYTES", "RuleCheck", "Sheet", "StoredSheet", "row_value"]

MAX_BYTES = 1 << 20
"""Larger pages are refused before they are parsed."""


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """Outcome of one physics rule on one row: pass, fail, excepted or not-checkable."""

    rule: str
    key: str
    path: str
    line: int
    outcome: str
    detail: str


class StoredSheet(TypedDict):
    """A sheet as the cache keeps it."""

    front: FrontMatter
    path: str
    title: str
    rows: list[list[Any]]
    footnotes: dict[str, list[tuple[str, str, str, str, str, str, int]]]
    faults: list[tuple[str, str, int, str, str, str | None]]
    checks: list[tuple[str, str, str, int, str, str]]


@dataclass(slots=True)
class Sheet:
    """Everything known of one product."""

    front: FrontMatter
    path: str
    title: str
    rows: list[Row] = field(default_factory=list)
    footnotes: dict[str, dict[str, Footnote]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    checks: list[RuleCheck] = field(default_factory=list)

    def chosen(self) -> dict[str, Row]:
        """Return the one row of each key that may become a quantity."""
        blocked = {fault.key for fault in self.faults}
        return {row.key: row for row in self.rows if row.chosen is not False and row.key not in blocked}

    def to_cache(self) -> StoredSheet:
        """Return a JSON-able form; `from_cache` reads it back to an equal sheet."""
        return {
            "front": self.front,
            "path": self.path,
            "title": self.title,
            "rows": [row.to_cache() for row in self.rows],
            "footnotes": {
                path: [(n.id, n.title, n.publisher, n.url, n.revision, n.read, n.line) for n in notes.values()]
                for path, notes in self.footnotes.items()
            },
            "faults": [(f.code, f.path, f.line, f.message, f.fix, f.key) for f in self.faults],
            "checks": [(c.rule, c.key, c.path, c.line, c.outcome, c.detail) for c in self.checks],
        }

    @classmethod
    def from_cache(cls, data: StoredSheet) -> Sheet:
        """Return the sheet that `to_cache` wrote."""
        return cls(
            data["front"],
            data["path"],
            data["title"],
            [Row.from_cache(row) for row in data["rows"]],
            {path: {n[0]: Footnote(*n) for n in notes} for path, notes in data["footnotes"].items()},
            [Fault(*fault) for fault in data["faults"]],
            [RuleCheck(*check) for check in data["checks"]],
        )


def row_value(row: Row) -> Fraction:
    """Return a value row's number in base units, exact."""
    return Fraction(row.value) * UNITS[row.unit].factor
