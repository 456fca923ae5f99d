"""The table of the wiki that says which categories of change a limiter asks for, each with the advice that asks for it.

`counters/categories.md` holds `| Limiter | Category | Step | Source |`; the source is `advice/<limiter>.md quote="…"`,
and the quote stands in that numbered step. Rows of a limiter stand in the order in which they are to be tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.analysis.evidence import ThresholdFault
from kopt_kb.analysis.rules.advice import load_advice
from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.tables import NO_ROW, rows_under
from kopt_kb.wire import Wire

__all__ = ["CATEGORIES", "HEADER", "CategoryFault", "CategoryRow", "load_categories", "ranked_categories"]

HEADER = ("Limiter", "Category", "Step", "Source")
CATEGORIES = (
    "memory_traffic", "memory_access", "caching", "latency_hiding", "parallelism", "scheduling", "compute",
    "launch_configuration",
)  # fmt: skip
"""Kinds of change that kernel files declare, and the search of their knobs."""
_PAGE = "counters/categories.md"
_SOURCE = re.compile(r'(?P<page>advice/[a-z0-9-]+\.md) quote="(?P<quote>[^"]{1,80})"')


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


@lru_cache(maxsize=8)
def load_categories(root: Path | None = None) -> Mapping[str, tuple[CategoryRow, ...]]:
    """Return limiter → its rows in order.

    Args:
        root: Folder of the wiki; None takes KOPT_GPU_WIKI, else the packaged one. A wiki without the page has no rows.

    Raises:
        CategoryFault: The page breaks the grammar, or a quote is not in its step.
        BadInput: A page of advice can't be read.
    """
    path = (root or default_root()) / _PAGE
    if not path.is_file():
        return {}
    found: dict[str, list[CategoryRow]] = {}
    for number, cells in rows_under(path.read_text(encoding="utf-8").splitlines(), HEADER):
        row = _row(cells, root, f"{_PAGE}:{number}")
        own = found.setdefault(row.limiter, [])
        if any(one.category == row.category for one in own):
            raise CategoryFault(f"{row.limiter} {row.category} stands twice", where=row.citation)
        own.append(row)
    return {limiter: tuple(rows) for limiter, rows in found.items()}


def _row(cells: list[str] | None, root: Path | None, where: str) -> CategoryRow:
    if cells is None:
        raise CategoryFault("no table row", where=where, fix=NO_ROW)
    if len(cells) != len(HEADER):
        raise CategoryFault(f"{len(cells)} cells under a header of {len(HEADER)}", where=where)
    limiter, category, step, source = cells
    if limiter not in LIMITERS or category not in CATEGORIES:
        fix = f"categories are {', '.join(CATEGORIES)}"
        raise CategoryFault(f"{limiter!r} {category!r} is no limiter and category", where=where, fix=fix)
    cited = _SOURCE.fullmatch(source)
    if cited is None or cited["page"] != f"advice/{limiter}.md" or not step.isdigit():
        raise CategoryFault(f'the source is not `advice/{limiter}.md quote="…"` of a numbered step', where=where)
    steps = load_advice(limiter, root).steps
    if not 0 < int(step) <= len(steps) or cited["quote"] not in steps[int(step) - 1]:
        raise CategoryFault(f"{cited['page']} does not say that in step {step}", where=where, fix="quote the step")
    return CategoryRow(limiter, category, f"{cited['page']} step {step}", cited["quote"], where)


def ranked_categories(limiters: Iterable[str], root: Path | None = None) -> tuple[CategoryRow, ...]:
    """Return the rows to try in order: those of the first limiter, then of the next; each category once."""
    table = load_categories(root)
    found: dict[str, CategoryRow] = {}
    for limiter in limiters:
        for row in table.get(limiter, ()):
            found.setdefault(row.category, row)
    return tuple(found.values())
