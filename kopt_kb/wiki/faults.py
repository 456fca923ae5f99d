"""Faults of wiki pages: collected, located, coded, and raised together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire

__all__ = ["FAULT_CODES", "Fault", "WikiFaults"]

FAULT_CODES: dict[str, str] = {
    "WK101": "the file is too large, has too many rows or too many columns",
    "WK102": "the bytes are not clean UTF-8 text",
    "WK103": "the front matter is missing or wrong",
    "WK104": "a table does not have exactly the seven columns",
    "WK105": "a row has more or fewer cells than the header",
    "WK106": "text or a row stands where the table grammar has no place for it",
    "WK107": "a table stands under no section heading",
    "WK109": "a footnote is malformed, defined twice or never used",
    "WK201": "the metric is not in the vocabulary",
    "WK202": "the value is not a plain number, a token of the metric, UNKNOWN or NONE",
    "WK203": "the unit does not fit the metric or the dtype",
    "WK204": "the conditions are incomplete, unordered or not in the vocabulary",
    "WK205": "the grade does not fit the row",
    "WK206": "the source is missing or malformed",
    "WK207": "the source names a footnote that the page does not define",
    "WK208": "the quote does not convert to the value",
    "WK209": "a note is malformed, or a required note is missing",
    "WK210": "something is still to be filled",
    "WK211": "the formula can't be evaluated",
    "WK212": "a row of grade vendor cites no document of the page's vendor",
    "WK213": "the source of a row names another product, one of the page's `not` list",
    "WK214": "what ships is read in the cell that prints the full chip",
    "WK215": "the capability or instruction set is not that of the target",
    "WK216": "an exception does not name the value that it is for",
    "WK217": "the words of a row contradict its conditions, its value or its grade",
    "WK301": "a conflict is not resolved: not exactly one row is chosen",
    "WK302": "a derived value does not equal its formula",
    "WK303": "an exception is declared that no failing rule needs",
    "WK304": "a fact of the target page is repeated on a product page",
    "WK401": "a required metric has no row",
    "WK402": "the index does not list exactly the pages there are",
    "WK403": "two pages claim the same name",
    "WK404": "the file is none of the wiki's pages",
    "WK405": "a row has changed since its source was last read",
    "WK406": "a value is far from that of its kin, targets of a vendor or products of a family, and does not say why",
    "WK407": "a row of the list of announced parts is incomplete, or names a part that has a page",
    "WK408": "a row is not what was found in its document, and the document was not searched since",
    "WK501": "the front matter of a knowledge page is missing or wrong",
    "WK502": "a knowledge page lacks its title, its sections or the end of a code block",
    "WK503": "a claim of a knowledge page has no source",
    "WK504": "a link of a knowledge page leads to nothing",
    "WK505": "a claim of a knowledge page rests on one observation and does not say so",
    "WK506": "what stands behind a claim has expired",
    "PHY": "a physics rule fails (the code names the rule)",
}


@dataclass(frozen=True, slots=True)
class Fault(Wire):
    """One thing wrong with a page.

    Attributes:
        code: Key of `FAULT_CODES`, or a physics rule `PHY-…`.
        path: Page, relative to the wiki's root.
        line: Line, counted from 1; 0 for the whole file.
        message: What is wrong.
        fix: What to do.
        key: The row's key when only that row is concerned; None blocks the whole page.
    """

    WIRE: ClassVar = ("code", "file=path", "line", "message", "fix", "key")
    code: str
    path: str
    line: int
    message: str
    fix: str = ""
    key: str | None = None

    def __str__(self) -> str:
        remedy = f"; {self.fix}" if self.fix else ""
        return f"{self.path}:{self.line}: {self.message}{remedy} [{self.code}]"


class WikiFaults(KoptError):
    """All faults that stand in the way of what was asked, at once."""

    code = "KB050"

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self.faults = faults
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(first.message + more, where=f"{first.path}:L{first.line}", fix=first.fix)
        self.error_code = first.code

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return WikiFaults, (self.faults,)
