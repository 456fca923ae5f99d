"""CSV as lines: each with its letters, so that what is not changed is written as it was."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput

__all__ = ["CsvLine", "csv_lines", "joined"]


@dataclass(frozen=True, slots=True)
class CsvLine:
    """One line.

    Attributes:
        text: Its letters, with the line end.
        cells: What they say.
        number: From 1.
    """

    text: str
    cells: tuple[str, ...]
    number: int

    @property
    def is_blank(self) -> bool:
        """Whether nothing stands in it."""
        return not self.text.strip()


def csv_lines(data: bytes, path: Path) -> tuple[CsvLine, ...]:
    """Return the lines of a file; raises `BadInput` where it is no UTF-8, or a quoted cell goes on in the next line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"is no UTF-8: {error.reason}"
        raise BadInput(what, where=str(path), fix="write it again", code="KB116") from error
    return tuple(_read(text, path))


def _read(text: str, path: Path) -> Iterator[CsvLine]:
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        try:
            cells = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            what = f"is no line of CSV: {error}"
            raise BadInput(what, where=f"{path}:{number}", fix="write the table again", code="KB116") from error
        yield CsvLine(line, tuple(cells), number)


def joined(cells: list[str], like: str) -> str:
    """Return cells as a line that ends as another one does."""
    end = like[len(like.rstrip("\r\n")) :] or "\n"
    return ",".join(f'"{one}"' if "," in one else one for one in cells) + end
