"""What a page's sources can and can't say: whose word a vendor's row is, which product a cell is of, which chip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.names import FrontMatter, fold
from kopt_kb.wiki.row import Row, Source

__all__ = ["TBD", "evidence_faults"]

TBD = "TBD"
"""What stands in a new page where a person has not written yet."""


_CAPABILITY = re.compile(r"sm_(?P<major>\d+)(?P<minor>\d)")


def evidence_faults(front: FrontMatter, rows: list[Row], footnotes: Mapping[str, Footnote]) -> Iterator[Fault]:
    """Yield a fault for each row whose grade, cell or identity its sources don't carry.

    Args:
        front: Front matter of the page.
        rows: Its rows.
        footnotes: Its documents by id.
    """
    own, names = _names(front)
    for row in rows:
        yield from _unfinished(row, footnotes)
        yield from _vendor(front, row, footnotes)
        yield from _neighbour(row, own, names)
        yield from _identity(front, row)
        yield from _vouched(row)
    yield from _full_as_shipped(rows)


def _unfinished(row: Row, footnotes: Mapping[str, Footnote]) -> Iterator[Fault]:
    """A reason and a cited document are written before a row counts."""
    if row.note("reason") == TBD:
        fix = "write the value with its source and quote, or why nobody publishes it"
        yield Fault("WK210", row.path, row.line, f"{row.key} is still to be filled", fix, row.key)
    cited = (footnotes[source.id] for source in row.sources if source.id in footnotes)
    open_notes = [one.id for one in cited if TBD in {one.title, one.publisher, one.url, one.revision}]
    if open_notes:
        message = f"the source of {row.key}, [^{open_notes[0]}], is still to be filled"
        yield Fault("WK210", row.path, row.line, message, "name the document", row.key)


def _vendor(front: FrontMatter, row: Row, footnotes: Mapping[str, Footnote]) -> Iterator[Fault]:
    """A row of grade vendor cites a document that the page's vendor published."""
    vendor = str(front.get("vendor", ""))
    published = [footnotes[source.id].publisher for source in row.sources if source.id in footnotes]
    own = re.compile(
        rf"{re.escape(vendor)}(?: Corporation| \([^)]*\))?"
    )  # `NVIDIA developer forum, a user` is not NVIDIA
    if row.grade == "vendor" and not any(own.fullmatch(name) for name in published):
        message = f"{row.key} is graded vendor, its documents are by {', '.join(published)}"
        fix = f'grade it secondary, or cite the vendor: publisher="{vendor}" or "{vendor} (which part of it)"'
        yield Fault("WK212", row.path, row.line, message, fix, row.key)


def _texts(front: FrontMatter, *names: str) -> list[str]:
    """Return the folded names in those fields, each a text or a list."""
    found: list[str] = []
    for name in names:
        value = front.get(name) or []
        found += [str(one) for one in value] if isinstance(value, list) else [str(value)]
    return [fold(one) for one in found if fold(one)]


def _names(front: FrontMatter) -> tuple[set[str], re.Pattern[str] | None]:
    """Return this product's folded names, and a pattern of its and its neighbours' names, the longest first."""
    own, near = _texts(front, "platform", "sku", "aliases", "family"), _texts(front, "not")
    if not near:
        return set(own), None
    ordered = sorted({*own, *near}, key=len, reverse=True)
    spelled = [r"[\s_\-]*".join(re.escape(part) for part in name.split("_")) for name in ordered]
    return set(own), re.compile(rf"(?<![a-z0-9])(?:{'|'.join(spelled)})(?![a-z0-9])")


def _neighbour(row: Row, own: set[str], names: re.Pattern[str] | None) -> Iterator[Fault]:
    """A cell of another product, one that the page says it is not, is no source of a value; one that names both is."""
    if names is None or row.chosen is False or row.kind == "none":
        return
    plain = {name.replace("_", "") for name in own}
    for source in row.sources:
        found = names.findall(f"{source.locator} {source.quote}".casefold())
        if found and not any(re.sub(r"[\s_\-]", "", one) in plain for one in found):
            message = f"the source of {row.key} names {found[0]!r}, another product"
            yield Fault("WK213", row.path, row.line, message, "read the cell of this product", row.key)


def _identity(front: FrontMatter, row: Row) -> Iterator[Fault]:
    """The capability or instruction set of a target page is the one in its name."""
    target = str(front.get("target", ""))
    found = _CAPABILITY.fullmatch(target)
    expected = {
        "compute_capability": f"{found['major']}.{found['minor']}" if found else None,
        "gfx_target": target if target.startswith("gfx") else None,
    }
    want = expected.get(row.metric)
    if row.kind == "token" and row.metric in expected and row.chosen is not False and row.value != want:
        message = f"{row.key} = {row.value} on a page of {target}"
        yield Fault("WK215", row.path, row.line, message, f"it is {want}" if want else "it belongs elsewhere", row.key)


def _vouched(row: Row) -> Iterator[Fault]:
    """An exception says which value it is for: a value that changes under it is excused no more."""
    for tag, text in row.notes:
        rule, _, why = text.partition(": ")
        if tag == "exception" and not why.startswith(f"{row.value}, "):
            message = f"the exception {rule} of {row.key} does not begin with its value {row.value}"
            yield Fault("WK216", row.path, row.line, message, f"write `exception {rule}: {row.value}, why`", row.key)


def _cell(source: Source) -> tuple[str, str]:
    return source.id, " ".join(source.locator.casefold().split())


def _full_as_shipped(rows: list[Row]) -> Iterator[Fault]:
    """What ships and the full chip are not printed in one cell."""
    full = {
        (row.metric, _without_config(row), _cell(source))
        for row in rows
        if dict(row.axes).get("config") == "full"
        for source in row.sources
    }
    for row in rows:
        if "config" not in dict(row.axes) and row.chosen is not False:
            same = [source for source in row.sources if (row.metric, _without_config(row), _cell(source)) in full]
            if same:
                message = f"{row.key} is read in the cell that prints the full chip"
                yield Fault("WK214", row.path, row.line, message, "read what ships, or write UNKNOWN", row.key)


def _without_config(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in row.axes if pair[0] != "config")
