"""Whether a compiled sheet says what its pages say: the cache is an index of lines, never a source of values.

Every stored row is held against the cells of its line, every row and footnote of the pages has to be there, and names
and addresses have to stand where they were read. What differs, is damaged or was written by somebody else is
compiled again. Only faults and outcomes of rules can't be seen in a page: whoever judges compiles pages anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kopt_kb.wiki.footnotes import FIELDS, Footnote
from kopt_kb.wiki.row import COLUMNS, Row, row_hash
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.tables import split_cells
from kopt_kb.wiki.vocabulary import METRICS

__all__ = ["front_stands", "says_what_its_line_says", "says_what_its_pages_say"]

ReadPage = Callable[[str], bytes | None]


def says_what_its_pages_say(sheet: Sheet, paths: tuple[str, ...], read: ReadPage) -> bool:
    """Return whether rows, footnotes and front matter of a stored sheet are those of its pages.

    Args:
        sheet: As the cache has it.
        paths: The pages it is compiled from, the product's own first.
        read: Returns a page's bytes.
    """
    lines = {path: _lines(read(path)) for path in paths}
    rows = {path: _rows(text) for path, text in lines.items()}
    known = {(row.path, row.line) for row in sheet.rows} | {(fault.path, fault.line) for fault in sheet.faults}
    own = lines[paths[0]]
    return (
        sheet.path == paths[0]
        and all((path, number) in known for path, found in rows.items() for number in found)
        and all(_is_row(row, *rows[row.path][row.line]) for row in sheet.rows)
        and front_stands(sheet.front, "\n".join(own))
        and _title(own) == sheet.title
        and all(_is_printed(note, lines[path]) for path, notes in sheet.footnotes.items() for note in notes.values())
    )


def says_what_its_line_says(row: Row, line: str) -> bool:
    """Return whether a row is what its line says, in every field but its heading."""
    cells = split_cells(line)
    return cells is not None and len(cells) == len(COLUMNS) and _is_row(row, cells, row.heading)


def _is_row(row: Row, cells: list[str], heading: str) -> bool:
    """Return whether a row is what these cells say in this section."""
    if row.heading != heading:
        return False
    if cells == _cells_of(row) and row.kind == _kind(row) and row.key == _key(row):
        return row.sha == row_hash(row.key, row.value, row.unit, row.grade, row.sources)
    from kopt_kb.wiki.cells import CellFault, parse_row

    try:  # the same row in other spacing, or with a default written out
        return parse_row(cells, row.path, row.line, row.heading, {one.id for one in row.sources}) == row
    except CellFault:
        return False


def _key(row: Row) -> str:
    axes = ";".join(f"{name}={value}" for name, value in row.axes)
    return f"{row.metric}[{axes}]" if axes else row.metric


def _cells_of(row: Row) -> list[str]:
    """Return the cells that a row has when it is written as rows usually are."""
    axes = "; ".join(f"{name}={value}" for name, value in row.axes)
    sources = "; ".join(one.written for one in row.sources)
    notes = "; ".join(f"{tag} {text}" if tag == "exception" else f"{tag}: {text}" for tag, text in row.notes)
    return [row.metric, row.value, row.unit, axes or "-", row.grade, sources or "-", notes]


def _kind(row: Row) -> str:
    if row.value in {"UNKNOWN", "NONE"}:
        return row.value.lower()
    metric = METRICS.get(row.metric)
    return "token" if metric is not None and metric.dimension == "token" else "value"


def _title(lines: list[str]) -> str:
    return next((line[2:].strip() for line in lines if line.startswith("# ")), "")


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").replace("\r\n", "\n").split("\n")


def _rows(lines: list[str]) -> dict[int, tuple[list[str], str]]:
    """Return number of a line → (its cells, the section it stands in) of all that look like rows of seven columns."""
    found, heading = {}, ""
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            heading = line[3:].strip()
        elif line[:1] == "|":
            cells = split_cells(line)
            if cells is not None and len(cells) == len(COLUMNS) and cells[0] != COLUMNS[0] and set(line) - set("|-: "):
                found[number] = (cells, heading)
    return found


def _is_printed(note: Footnote, lines: list[str]) -> bool:
    line = lines[note.line - 1]
    pairs = [f'{name}="{getattr(note, name)}"' for name in FIELDS]
    return line.startswith(f"[^{note.id}]:") and all(pair in line for pair in pairs)


def front_stands(front: object, text: str) -> bool:
    """Return whether stored front matter is what a page begins with: each pair in its line, and no word besides."""
    if not isinstance(front, dict):
        return False
    left = text.split("\n---", 1)[0]
    lines = {line.partition(":")[0]: line for line in left.split("\n") if line[:1].isalpha()}
    words = []
    for name, value in front.items():
        inside = list(_words(value))
        line = lines.get(name, "")
        if isinstance(value, str) and _unquoted(line.partition(":")[2]) != value:
            return False
        if "[" in line and any(word not in line for word in inside):
            return False
        words += [name, *inside]
    for word in sorted(words, key=len, reverse=True):
        if not word or word not in left:
            return False
        left = left.replace(word, "", 1)
    return not left.strip(" \n-:[]{},\"'")


def _words(value: object) -> Iterator[str]:
    if isinstance(value, dict | list | tuple):
        for part in value.items() if isinstance(value, dict) else value:
            yield from _words(part)
    else:
        yield value if isinstance(value, str) else ""


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
