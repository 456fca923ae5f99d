"""One row of a wiki table: its cells, what they mean, and the hash that citations carry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

__all__ = ["COLUMNS", "Row", "Source", "row_hash"]

COLUMNS = ("Metric", "Value", "Unit", "Conditions", "Grade", "Source", "Note")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value is printed: footnote id, locator inside the document, quote of the cell."""

    id: str
    locator: str
    quote: str

    @property
    def written(self) -> str:
        """The source as a cell writes it; a quotation mark inside the quote has a backslash before it."""
        escaped = self.quote.replace('"', '\\"')
        return f'[^{self.id}] {self.locator} quote="{escaped}"' if self.quote else f"[^{self.id}] {self.locator}"


@dataclass(frozen=True, slots=True)
class Row:
    """A typed row.

    Attributes:
        key: `metric[axis=value;…]`.
        kind: value, token, unknown (nobody says) or none (the part lacks it).
        value: Cell text.
        axes: Conditions, defaults left out.
        notes: (tag, text) pairs in order.
        chosen: True or False when the row is part of a conflict, else None.
    """

    metric: str
    key: str
    kind: str
    value: str
    unit: str
    axes: tuple[tuple[str, str], ...]
    grade: str
    sources: tuple[Source, ...]
    notes: tuple[tuple[str, str], ...]
    path: str
    line: int
    heading: str
    sha: str

    @property
    def chosen(self) -> bool | None:
        """Whether the row won its conflict; None when there is none."""
        tags = {tag for tag, _ in self.notes}
        return True if "chosen" in tags else False if "rejected" in tags else None

    @property
    def is_ceiling(self) -> bool:
        """Whether it bounds the products of a target and is no value of one: they may be cut below it."""
        return self.metric == "ops_per_clock_per_sm" and self.path.startswith("targets/")

    def note(self, tag: str) -> str:
        """Return the text of the first note with that tag, or an empty string."""
        return next((text for name, text in self.notes if name == tag), "")

    def to_cache(self) -> list[Any]:
        """Return a JSON-able list; `from_cache` reads it back."""
        sources = [[s.id, s.locator, s.quote] for s in self.sources]
        return [
            self.metric, self.key, self.kind, self.value, self.unit, [list(a) for a in self.axes], self.grade,
            sources, [list(n) for n in self.notes], self.path, self.line, self.heading, self.sha,
        ]  # fmt: skip

    @classmethod
    def from_cache(cls, data: list[Any]) -> Row:
        """Return the row that `to_cache` wrote."""
        metric, key, kind, value, unit, axes, grade, sources, notes, path, line, heading, sha = data
        pairs = tuple((a, b) for a, b in axes)
        return cls(
            metric, key, kind, value, unit, pairs, grade, tuple(Source(*s) for s in sources),
            tuple((a, b) for a, b in notes), path, line, heading, sha,
        )  # fmt: skip


def row_hash(key: str, value: str, unit: str, grade: str, sources: tuple[Source, ...]) -> str:
    """Return the first 12 hex digits of sha256 over key, value, unit, grade, source ids and locators.

    Line numbers, white space, quotes and read dates are left out: moving a row does not change it.
    """
    parts = [key, value, unit, grade]
    for source in sources:
        parts += [source.id, " ".join(source.locator.split())]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]
