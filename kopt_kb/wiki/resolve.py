"""Rows to quantities: the one place where `Cited` origins are made, each after its line was read again."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, cast

from kopt_kb.quantity import Grade
from kopt_kb.quantity.citation import Citation, Location
from kopt_kb.quantity.quantity import Absent, Cited, Derived, Quantity, Unknown, made
from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.faults import Fault, WikiFaults
from kopt_kb.wiki.indexed import says_what_its_line_says
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import METRICS
from kopt_kb.wiki.wiki import Wiki

__all__ = ["CitationState", "citation_of", "headings_above", "quantity_of", "reread", "verify"]

CitationState = Literal["ok", "moved", "changed", "missing"]


def citation_of(row: Row) -> Citation:
    """Return the citation of a row."""
    return Citation(row.key, row.value, row.unit, Location(row.path, row.line), row.sha)


def reread(wiki: Wiki, row: Row) -> None:
    """Read the cited line again and compare all that it says; raises `WikiFaults` when it is not the same row."""
    content = wiki.read(row.path)
    lines = content.split(b"\n") if content is not None else []
    text = lines[row.line - 1].decode("utf-8", "replace") if 0 < row.line <= len(lines) else ""
    if not says_what_its_line_says(row, text):
        raise WikiFaults(
            (
                Fault(
                    "WK206",
                    row.path,
                    row.line,
                    f"the cited line no longer holds {row.key}",
                    "look it up again",
                    row.key,
                ),
            )
        )


def quantity_of(wiki: Wiki, sheet: Sheet, row: Row, platform: str) -> Quantity | Unknown | Absent:
    """Return what a chosen row says: a quantity with its origin, Unknown, or Absent for NONE.

    Token rows have no quantity; callers read their `value`.

    Raises:
        WikiFaults: A line no longer holds its row.
        UnknownData: A formula names a row that is UNKNOWN.
        BadInput: A formula names a row that is NONE.
    """
    reread(wiki, row)
    citation = citation_of(row)
    if row.kind == "unknown":
        return Unknown((f"{platform} {row.key}",), row.note("reason"), citation, row.key, row.axes)
    if row.kind == "none":
        return Absent(row.key, row.note("reason"), citation, row.axes)
    symbol = UNITS[row.unit]
    si = Fraction(row.value) * symbol.factor
    grade = cast("Grade", row.grade)
    if row.grade != "derived":
        return made(si, METRICS[row.metric].dimension, row.unit, Cited(row.key, grade, citation), row.value)
    parents = tuple(_parents(wiki, sheet, row, platform))
    origin = Derived(row.note("formula"), parents, grade, citation, row.key)
    return made(si, METRICS[row.metric].dimension, row.unit, origin, row.value)


def _parents(wiki: Wiki, sheet: Sheet, row: Row, platform: str) -> list[Quantity]:
    from kopt_kb.quantity.formula import parse_formula

    chosen = sheet.chosen()
    found = []
    for key in parse_formula(row.note("formula")).names:
        parent = quantity_of(wiki, sheet, chosen[key], platform)
        if not isinstance(parent, Quantity):
            raise parent.error()
        found.append(parent)
    return found


def verify(wiki: Wiki, citation: Citation) -> tuple[CitationState, Row | None]:
    """Compare a citation with the wiki as it is now.

    Returns:
        `ok`: the cited line holds exactly this row. `moved`: the row stands, unchanged, on another line.
        `changed`: the key stands on the page with other content (the row is given). `missing`: it does not.
    """
    page = wiki.page(citation.location.path)
    if page is None:
        return "missing", None
    rows = [row for row in page.rows if row.key == citation.key]
    same = [row for row in rows if _same(row, citation)]
    section = citation.location.section
    if section:
        data = wiki.read(citation.location.path) or b""
        under = [row for row in same if section in headings_above(data.decode("utf-8", "replace"), row.line)]
        return ("ok", under[0]) if under else ("moved", same[0]) if same else _changed(rows)
    on_line = [row for row in same if citation.location.line in {None, row.line}]
    if on_line:
        return "ok", on_line[0]
    if same:
        return "moved", same[0]
    return _changed(rows)


def _changed(rows: list[Row]) -> tuple[CitationState, Row | None]:
    """Return the row that stands in place of a cited one."""
    kept = [row for row in rows if row.chosen is not False]
    return ("changed", kept[0]) if kept else ("missing", None)


def headings_above(text: str, line: int) -> frozenset[str]:
    """Return the titles of the sections that a line stands in, from the nearest outwards."""
    found: dict[int, str] = {}
    for title in text.split("\n")[: line - 1]:
        level = len(title) - len(title.lstrip("#"))
        if level and title[level : level + 1] == " ":
            found = {**{at: one for at, one in found.items() if at < level}, level: title[level:].strip()}
    return frozenset(found.values())


def _same(row: Row, citation: Citation) -> bool:
    if citation.row_sha256:
        return row.sha == citation.row_sha256
    return (row.value, row.unit) == (citation.value, citation.unit)
