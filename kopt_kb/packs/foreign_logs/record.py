"""One claim of a log as it was read: fields with a role, lines of prose, the round it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "ClaimedDecision",
    "Field",
    "ForeignRecord",
    "LogForm",
    "campaign_of",
    "decision_in",
    "number_in",
    "round_in_path",
    "round_number",
    "tolerance",
]

LogForm = Literal["markdown table", "csv", "tsv", "json", "jsonl", "round notes", "sentence", "commit message"]
ClaimedDecision = Literal["baseline", "accepted", "rejected", "unstated"]

_NUMBER = re.compile(
    r"[~≈≤≥<>*`\s]*(?P<number>[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-zµ×%/]{0,10})[\s*`)]*"
)
_REJECTED = re.compile(
    r"\b(?:revert\w*|roll(?:ed)?[- ]?back|reject\w*|discard\w*|kill(?:ed)?|falsified|dropped"
    r"|abandon\w*|crash(?:ed)?)\b",
    re.IGNORECASE,
)
_ACCEPTED = re.compile(
    r"\b(?:accept\w*|keep|kept|landed|ship(?:ped)?|merged|adopt\w*|committed|promoted)\b", re.IGNORECASE
)
_BASELINE = re.compile(r"\bbaseline\b", re.IGNORECASE)
_PATH_ROUND = re.compile(
    r"(?:^|[-_. ])(?:round|iter(?:ation)?|experiment|attempt|exp"
    r"|gen(?:eration)?)[-_ .]?0*(\d{1,6})(?![\d.])",
    re.IGNORECASE,
)
_ROUND = re.compile(
    r"\W*(?:R|v|round|iter(?:ation)?|exp(?:eriment)?|attempt)?[\s#_-]*0*(\d{1,6})(?:[\s:([][^\d]*)?\W*", re.IGNORECASE
)
_LARGEST_EXPONENT, _LONGEST_EXPONENT = 300, 9
_CAMPAIGN_PARTS = {"rounds", "logs", "results", "artifacts", "iterations", "notes", "_notes"}


@dataclass(frozen=True, slots=True)
class Field:
    """A named value of a record.

    Attributes:
        role: What it says, one of the roles of `names`.
        name: Its name as the log has it.
        text: Its value as the log has it.
        line: Where it stands.
        round: The round it is said of where that is another one than the record's.
    """

    role: str
    name: str
    text: str
    line: int
    round: int | None = None

    @property
    def value(self) -> float | None:
        """The number that the text is, with at most a unit behind it."""
        return number_in(self.text)


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One claim.

    Attributes:
        line: Where it begins.
        round: Number of its round; None where it has none.
        item: What it is about: a kernel, a task, a shape; may be empty.
        lines: (line, text) of the prose that belongs to it.
        of_round: Whether it only details the round whose file it stands in, and is no claim of its own.
    """

    file: str
    line: int
    form: LogForm
    label: str
    round: int | None
    item: str
    decision: ClaimedDecision
    fields: tuple[Field, ...] = ()
    lines: tuple[tuple[int, str], ...] = ()
    of_round: bool = False

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    def of(self, *roles: str) -> Iterator[Field]:
        """Yield the fields of these roles, in order."""
        return (one for one in self.fields if one.role in roles)

    def first(self, *roles: str) -> Field | None:
        """Return the first field of these roles."""
        return next(self.of(*roles), None)


def number_in(text: str) -> float | None:
    """Return the number that a text is; None when it says more than a number and a unit.

    >>> number_in("**1.25x**"), number_in("~ 3,000 us"), number_in("4 of 5")
    (1.25, 3000.0, None)
    """
    found = _NUMBER.fullmatch(text)
    return float(found["number"].replace(",", "")) if found else None


def tolerance(*texts: str) -> float:
    """Return half a unit of the last place of the coarsest of some numbers as printed.

    >>> tolerance("1.25", "1.2"), tolerance("3")
    (0.05, 0.5)
    """
    worst = 0.0
    for text in texts:
        digits = re.search(r"\d[\d,]*(?:\.(\d+))?(?:[eE]([-+]?\d+))?", text)
        if digits is not None:
            place = int((digits[2] or "0")[:_LONGEST_EXPONENT]) - len(digits[1] or "")
            worst = max(worst, 0.5 * 10.0 ** max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, place)))
    return worst


def decision_in(texts: Iterable[str]) -> ClaimedDecision:
    """Return what the first of these texts that says something decides."""
    for text in texts:
        if _REJECTED.search(text):
            return "rejected"
        if _BASELINE.search(text):
            return "baseline"
        if _ACCEPTED.search(text):
            return "accepted"
    return "unstated"


def round_in_path(path: str) -> int | None:
    """Return the round that a path names; the deepest part counts.

    >>> round_in_path("agent/rounds/round-3-split/summary.md"), round_in_path("docs/round.md")
    (3, None)
    """
    for part in reversed(path.split("/")):
        found = _PATH_ROUND.search(part)
        if found is not None:
            return int(found[1])
    return None


def round_number(text: str) -> int | None:
    """Return the number of a round from a cell or member that names one.

    >>> round_number("**R12**"), round_number("round_2"), round_number("2026-01-03")
    (12, 2, None)
    """
    found = _ROUND.fullmatch(text)
    return int(found[1]) if found is not None else None


def campaign_of(path: str) -> str:
    """Return the folder of the campaign that a file belongs to: its rounds, logs and results lie below it."""
    parts = path.split("/")[:-1]
    for at, part in enumerate(parts):
        if part.casefold() in _CAMPAIGN_PARTS or _PATH_ROUND.search(part):
            return "/".join(parts[:at])
    return "/".join(parts)
