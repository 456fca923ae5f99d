"""The reading list for a piece of work: which knowledge pages to read, in which order, and why each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.wiki.knowledge import FOLDERS, KnowledgePage, read_knowledge
from kopt_kb.wiki.places import PageToRead
from kopt_kb.wiki.search_filters import Filters, check_filters, vendor_of
from kopt_kb.wiki.wiki import Wiki

__all__ = ["ReadingList", "reading_list"]

_WHY: tuple[tuple[str, str], ...] = (
    ("op", "what the operation is made of, where it is bound, which directions pay"),
    ("backend", "how the backend expresses it: programming model, then its own levers"),
    ("target", "budgets of the target: registers, shared memory, residency, rates"),
    ("hardware", "peaks and bandwidth of the product, cited"),
    ("playbook", "an order of steps with knob ranges"),
    ("profiling", "how to take the profile that decides the next step"),
    ("pitfall", "what went wrong before under these conditions"),
    ("advice", "what to do about the limiter that a profile names: read that page then"),
)


@dataclass(frozen=True, slots=True)
class ReadingList(Wire):
    """Pages in reading order.

    Attributes:
        missing: Kinds that have no page for this work: use what you know, and say that it is not sourced.
        tips: Where a campaign's own tips for this operation, target and backend stand, below its folder; empty unless
            all three are named.
    """

    WIRE: ClassVar = ("filters=filters.given", "pages=stops", "missing", "tips")
    filters: Filters
    stops: tuple[PageToRead, ...]
    missing: tuple[str, ...]
    tips: str = ""


def _matches(page: KnowledgePage, filters: Filters, vendor: str) -> tuple[str, ...] | None:
    """Return the filters that a page names itself, or None if it is about something else."""
    found = []
    for axis in ("op", "backend", "arch"):
        wanted, have = getattr(filters, axis), page.tags.get(axis, ())
        if not wanted or "any" in have:
            continue
        if wanted not in have and not (axis == "arch" and vendor in have):
            return None
        found.append(f"{axis}={wanted}")
    return tuple(found)


def _knowledge(wiki: Wiki, filters: Filters) -> Iterator[PageToRead]:
    vendor = vendor_of(wiki, filters.arch) if filters.arch else ""
    why = dict(_WHY)
    for folder, kind in FOLDERS.items():
        for path in wiki.pages(folder):
            page = read_knowledge(wiki.read(path) or b"", path, wiki.targets)
            named = _matches(page, filters, vendor)
            if named is not None and not page.faults and (kind != "advice" or named):
                yield PageToRead(path, page.title, kind, why[kind], page.versions, named)


def _values(wiki: Wiki, filters: Filters) -> Iterator[PageToRead]:
    why = dict(_WHY)
    if filters.arch:
        yield PageToRead(
            f"targets/{filters.arch}.md", filters.arch, "target", why["target"], "any", (f"arch={filters.arch}",)
        )
        for one in wiki.names.identities.values():
            if one.target == filters.arch and filters.platform in {"", one.platform}:
                yield PageToRead(one.path, one.sku, "hardware", why["hardware"], "any", (f"arch={filters.arch}",))


def _advice(wiki: Wiki) -> Iterator[PageToRead]:
    """Yield one stop for the advice pages about everything: a profile names the one to read."""
    pages = wiki.pages("advice")
    if pages:
        yield PageToRead("advice/", f"{len(pages)} pages, one a limiter", "advice", dict(_WHY)["advice"], "any", ())


def _order(stop: PageToRead) -> tuple[int, int, int, str]:
    """Order by kind, what names more of the filters first, overviews before the rest."""
    kinds = [kind for kind, _ in _WHY]
    name = stop.path.rsplit("/", 1)[-1]
    return kinds.index(stop.kind), not name.startswith("overview"), -len(stop.matches), stop.path


def reading_list(wiki: Wiki, filters: Filters) -> ReadingList:
    """Return the pages for an operation, backend and target, in reading order with a reason each.

    Pages of another target, operation or backend never stand in it; a page with faults doesn't either.

    Raises:
        BadInput: A value is not in the vocabulary; near ones are suggested.
    """
    checked = check_filters(wiki, filters)
    found = [*_knowledge(wiki, checked), *_values(wiki, checked), *_advice(wiki)]
    stops = sorted(found, key=_order)
    have = {stop.kind for stop in stops}
    needed = [kind for kind, _ in _WHY if kind not in {"target", "hardware"} or checked.arch]
    named = (checked.arch, checked.op, checked.backend)
    tips = f"agent/historical_experience/{'/'.join(named)}/tips.md" if all(named) else ""
    return ReadingList(checked, tuple(stops), tuple(kind for kind in needed if kind not in have), tips)
