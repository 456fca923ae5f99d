"""Numbers as a locale prints them: the decimal sign is decided from a whole file, never from one cell."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["Decimal", "DecimalVote", "number"]

Decimal = Literal[".", ","]

_GROUPED = r"[+-]?\d{{1,3}}(?:{group}\d{{3}})*(?:{point}\d+)?"
_PLAIN = r"[+-]?\d+(?:{point}\d*)?(?:[eE][+-]?\d+)?"
_SHAPES: dict[Decimal, re.Pattern[str]] = {
    ".": re.compile(f"{_GROUPED.format(group=',', point=chr(92) + '.')}|{_PLAIN.format(point=chr(92) + '.')}"),
    ",": re.compile(f"{_GROUPED.format(group=chr(92) + '.', point=',')}|{_PLAIN.format(point=',')}"),
}
_SPACES = str.maketrans("", "", " \u00a0\u202f'")
_GROUPS: dict[Decimal, str] = {".": ",", ",": "."}


@dataclass(slots=True)
class DecimalVote:
    """Evidence for one decimal sign over a file: the first line whose number fits only that one."""

    file: str
    point_line: int | None = None
    comma_line: int | None = None

    def see(self, cell: str, line: int) -> None:
        """Take one value cell into account; text and numbers that fit both locales say nothing."""
        if "," not in cell and "." not in cell:
            return
        text = cell.translate(_SPACES)
        point, comma = (_SHAPES[sign].fullmatch(text) is not None for sign in (".", ","))
        if point and not comma and self.point_line is None:
            self.point_line = line
        elif comma and not point and self.comma_line is None:
            self.comma_line = line

    @property
    def decided(self) -> Decimal:
        """The sign of the file, "." without evidence; raises `ReportError` when lines contradict each other."""
        if self.point_line is not None and self.comma_line is not None:
            raise ReportError(
                f"a decimal point in line {self.point_line} and a decimal comma in line {self.comma_line}",
                where=self.file,
                line=max(self.point_line, self.comma_line),
                fix="export the page again; one of the two lines is damaged",
            )
        return "," if self.comma_line is not None else "."


def number(cell: str, decimal: Decimal) -> float | None:
    """Return the finite number a cell prints in that locale, None for text."""
    text = cell.translate(_SPACES)
    if _SHAPES[decimal].fullmatch(text) is None:
        return None
    value = float(text.replace(_GROUPS[decimal], "").replace(",", "."))
    return value if math.isfinite(value) else None
