"""Which categories of change a limiter asks for: a table on its page of advice, below the steps that ask for them.

It is `| Category | Step | Quote |`, and the quote stands in that numbered step. Rows stand in the order in which they
are to be tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.analysis.evidence import ThresholdFault
from kopt_kb.analysis.rules.advice import Advice, load_advice
from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.base.wire import Wire
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.tables import NO_ROW, rows_under

__all__ = ["CATEGORIES", "HEADER", "CategoryFault", "CategoryRow", "load_categories", "ranked_categories"]

HEADER = ("Category", "Step", "Quote")
CATEGORIES = (
    "memory_traffic", "memory_access", "caching", "latency_hiding", "parallelism", "scheduling", "compute",
    "launch_configuration",
)  # fmt: skip
"""Kinds of change that kernel files declare, and the search of their knobs."""


class CategoryFault(ThresholdFault):
    """A table of categories that breaks the grammar, or quotes what no advice says; names file and line."""


@dataclass(frozen=True, slots=True)
class CategoryRow(Wire):
    """One row.

    Attributes:
        limiter: Word of the closed table of limiters.
        category: Kind of change.
        advice: Page and step that ask for it.
        quote: Its words.
        citation: `path:line` of the row.
    """

    limiter: str
    category: str
    advice: str
    quote: str
    citation: str


@lru_cache(maxsize=64)
def load_categories(limiter: str, root: Path | None = None) -> tuple[CategoryRow, ...]:
    """Return the rows of a limiter in order; none for a word that is no limiter, or without its page.

    Args:
        limiter: Word of the closed table of limiters.
        root: Folder of the wiki; None takes KOPT_GPU_WIKI, else the packaged one.

    Raises:
        CategoryFault: The table breaks the grammar, or a quote is not in its step.
        BadInput: The page of advice can't be read.
    """
    path = (root or default_root()) / f"advice/{limiter}.md"
    if limiter not in LIMITERS or not path.is_file():
        return ()
    advice, found = load_advice(limiter, root), dict[str, CategoryRow]()
    for number, cells in rows_under(path.read_text(encoding="utf-8").splitlines(), HEADER):
        row = _row(cells, advice, f"{advice.page}:{number}")
        if found.setdefault(row.category, row) is not row:
            raise CategoryFault(f"{row.category} stands twice", where=row.citation)
    return tuple(found.values())


def _row(cells: list[str] | None, advice: Advice, where: str) -> CategoryRow:
    if cells is None:
        raise CategoryFault("no table row", where=where, fix=NO_ROW)
    if len(cells) != len(HEADER):
        raise CategoryFault(f"{len(cells)} cells under a header of {len(HEADER)}", where=where)
    category, step, quote = cells
    if category not in CATEGORIES:
        raise CategoryFault(f"{category!r} is no category", where=where, fix=f"one of {', '.join(CATEGORIES)}")
    numbered = dict(enumerate(advice.steps, 1))
    if not quote or not step.isdigit() or quote not in numbered.get(int(step), ""):
        raise CategoryFault(f"{advice.page} does not say that in step {step}", where=where, fix="quote the step")
    return CategoryRow(advice.limiter, category, f"{advice.page} step {step}", quote, where)


def ranked_categories(limiters: Iterable[str], root: Path | None = None) -> tuple[CategoryRow, ...]:
    """Return the rows to try in order: those of the first limiter, then of the next; each category once."""
    found: dict[str, CategoryRow] = {}
    for limiter in limiters:
        for row in load_categories(limiter, root):
            found.setdefault(row.category, row)
    return tuple(found.values())
