"""The strict page reader: one Markdown page to front matter, typed rows, footnotes and every fault in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kopt_kb.wiki.cells import CellFault, parse_row
from kopt_kb.wiki.evidence import TBD, evidence_faults
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.footnotes import Footnote, read_footnotes
from kopt_kb.wiki.names import FrontMatter
from kopt_kb.wiki.page_blocks import blocks
from kopt_kb.wiki.row import COLUMNS, Row
from kopt_kb.wiki.sheet import MAX_BYTES
from kopt_kb.wiki.tables import split_cells
from kopt_kb.wiki.wording import wording_faults

__all__ = ["Page", "read_front_matter", "read_page"]

_MAX_ROWS = 3000
_MAX_PIPES = 60
_LIST_FIELDS = ("aliases", "family", "not", "pci")
_REQUIRED = {
    "hardware": ("platform", "vendor", "sku", "arch", "target"),
    "targets": ("target", "vendor", "arch", "title"),
}


@dataclass(slots=True)
class Page:
    """A page as read: what loaded, and what is wrong with it."""

    path: str
    front: FrontMatter = field(default_factory=dict)
    title: str = ""
    rows: list[Row] = field(default_factory=list)
    footnotes: dict[str, Footnote] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, code: str, line: int, message: str, fix: str = "", key: str | None = None) -> None:
        """Record a fault of this page."""
        self.faults.append(Fault(code, self.path, line, message, fix, key))


def _decode(page: Page, data: bytes) -> str | None:
    if len(data) > MAX_BYTES:
        page.fault("WK101", 0, f"{len(data)} bytes, more than {MAX_BYTES}", "one SKU a page")
        return None
    if b"\0" in data:
        page.fault("WK102", data[: data.index(b"\0")].count(b"\n") + 1, "a NUL byte", "save the page as UTF-8 text")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        page.fault("WK102", line, f"byte {error.start} is not UTF-8", "save the page as UTF-8 text")
        return None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\r" in text:
        page.fault("WK102", text[: text.index("\r")].count("\n") + 1, "a lone carriage return", "use \\n line ends")
        return None
    return text


def _strings_only(yaml: Any) -> Any:
    """Return the loader that reads every scalar as a string, the C one where libyaml is there."""
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_front_matter(text: str) -> tuple[FrontMatter, int] | None:
    """Return the front matter (scalars as strings) and the number of its lines, or None if it is broken."""
    lines = text.split("\n", 200)
    if lines[0].strip() != "---":
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return None
    import yaml

    try:
        data = yaml.load("\n".join(lines[1:end]), Loader=_strings_only(yaml))  # noqa: S506 - builds strings only
    except yaml.YAMLError:
        return None
    return (data, end + 1) if isinstance(data, dict) else None


def _check_front(page: Page, kind: str) -> None:
    front = page.front
    for name in _REQUIRED.get(kind, ()):
        text = front.get(name)
        if not isinstance(text, str) or not text.strip():
            page.fault("WK103", 1, f"front matter lacks {name!r}", f"needed: {', '.join(_REQUIRED[kind])}")
        elif text.startswith(TBD):
            page.fault("WK210", 1, f"front matter field {name!r} is still to be filled", "write it as the vendor does")
    for name in sorted(map(str, front.keys() - {*_REQUIRED[kind], *_LIST_FIELDS})) if kind in _REQUIRED else ():
        message = f"front matter has no field {name!r}"
        page.fault("WK103", 1, message, f"its fields: {', '.join((*_REQUIRED[kind], *_LIST_FIELDS))}")
    for name in _LIST_FIELDS:
        value = front.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            page.fault("WK103", 1, f"front matter field {name!r} is not a list of names")


def _too_wild(page: Page, lines: list[str]) -> bool:
    """Refuse hostile tables before the Markdown parser spends time on them."""
    rows = 0
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("|"):
            rows += 1
            if line.count("|") > _MAX_PIPES:
                page.fault("WK101", number, f"{line.count('|') - 1} columns", f"the table has {len(COLUMNS)}")
                return True
    if rows > _MAX_ROWS:
        page.fault("WK101", 0, f"{rows} table lines, more than {_MAX_ROWS}", "one SKU a page")
        return True
    return False


def _scan(page: Page, lines: list[str]) -> list[tuple[int, int, str]]:
    """Return (first line, end line, heading) of each table, zero-based, and fault rows outside of tables."""
    tables: list[tuple[int, int, str]] = []
    covered: set[int] = set()
    heading = ""
    for block in blocks(lines):
        if block.kind in {"table", "code"}:
            covered.update(range(block.first, block.end))
        elif not block.nested:
            heading = block.text if block.kind == "h2" else "" if block.kind == "h1" else heading
            page.title = page.title or (block.text if block.kind == "h1" else "")
        if block.kind == "table":
            if block.nested:
                page.fault("WK106", block.first + 1, "a table inside a list or quote", "start it at the margin")
            tables.append((block.first, block.end, heading))
    for number, line in enumerate(lines):
        if number not in covered and line.lstrip().startswith("|"):
            page.fault(
                "WK106",
                number + 1,
                "a table row outside of any table",
                "header and separator line above, blank line around",
            )
    return tables


def _read_table(page: Page, lines: list[str], span: tuple[int, int, str]) -> None:
    first, end, heading = span
    header = split_cells(lines[first])
    if header is None or tuple(header) != COLUMNS:
        shown = " | ".join((header or [lines[first]])[:9])[:90]
        page.fault("WK104", first + 1, f"table header is `{shown}`", f"write `| {' | '.join(COLUMNS)} |`")
        return
    if not heading:
        page.fault("WK107", first + 1, "the table stands under no H2 section", "add a `## Section` above it")
    for number in range(first + 2, end):
        cells = split_cells(lines[number])
        if cells is None:
            page.fault(
                "WK106",
                number + 1,
                f"text glued to the table: {lines[number].strip()[:50]!r}",
                "leave a blank line after the table",
            )
        elif len(cells) != len(COLUMNS):
            page.fault(
                "WK105",
                number + 1,
                f"{len(cells)} cells under {len(COLUMNS)} columns",
                "a | inside a cell is written \\|",
            )
        else:
            _read_row(page, cells, number + 1, heading)


def _read_row(page: Page, cells: list[str], line: int, heading: str) -> None:
    try:
        page.rows.append(parse_row(cells, page.path, line, heading, set(page.footnotes)))
    except CellFault as fault:
        page.fault(fault.code, line, fault.message, fault.fix, key=cells[0])


def _check_footnotes(page: Page, text: str) -> None:
    for one in page.footnotes.values():
        if text.count(f"[^{one.id}]") < 2:
            page.fault("WK109", one.line, f"footnote [^{one.id}] is never used", "remove it or cite it")


def read_page(data: bytes, path: str, *, kind: str = "hardware") -> Page:
    """Return the page with everything that loads and every fault; never raises for bad content.

    Args:
        data: The file's bytes.
        path: Its path relative to the wiki's root, used in faults and citations.
        kind: "hardware", "targets" or "measured"; decides which front matter is required.
    """
    page = Page(path)
    text = _decode(page, data)
    if text is None:
        return page
    front_matter = read_front_matter(text)
    if front_matter is None:
        page.fault("WK103", 1, "no YAML front matter between --- lines", "start the page with it")
        return page
    page.front, skip = front_matter
    _check_front(page, kind)
    lines = text.split("\n")
    if _too_wild(page, lines):
        return page
    lines[:skip] = [""] * skip
    page.footnotes, bad = read_footnotes(lines)
    for line, message in bad:
        page.fault(
            "WK109",
            line,
            message,
            'write [^id]: title="…"; publisher="…"; url="…"; revision="…"; read="YYYY-MM-DD"',
        )
    for span in _scan(page, lines):
        _read_table(page, lines, span)
    _check_footnotes(page, text)
    if kind in _REQUIRED:
        page.faults += evidence_faults(page.front, page.rows, page.footnotes)
        page.faults += wording_faults(page.front, page.rows, page.footnotes)
    return page
