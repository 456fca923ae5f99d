"""What a claim of a knowledge page rests on: a document or observations, how many, of which part, and until when."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["BASES", "FIELDS", "ClaimBasis", "from_one", "outdated", "read_evidence", "says_one"]

FIELDS = ("basis", "n", "part", "toolkit", "expires")
BASES: dict[str, str] = {
    "source": "a document of those who make or specify the thing",
    "measured": "measured by this project, N recordings",
    "report": "seen and published by N users",
}
_ONE = re.compile(r"\b(?:one|single) (?:run|report|recording|measurement|campaign|user)\b|\bseen once\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClaimBasis:
    """What stands behind one footnote of a knowledge page.

    Attributes:
        basis: Key of `BASES`.
        n: How many documents, recordings or users.
        part: Product, target or vendor that it is about; `any`.
        toolkit: Compiler, profiler or library with its release; `any`.
        expires: Day after which it has to be read or measured again.
    """

    basis: str
    n: int
    part: str
    toolkit: str
    expires: datetime.date


def read_evidence(values: Mapping[str, str]) -> ClaimBasis | str:
    """Return the evidence of a footnote's further fields, or what is wrong with them."""
    if tuple(values) != FIELDS or not all(values.values()):
        return f"the evidence needs {', '.join(FIELDS)}, in this order, none empty"
    if values["basis"] not in BASES:
        return f"basis={values['basis']!r} is none of {', '.join(BASES)}"
    if not values["n"].isdecimal() or int(values["n"]) < 1:
        return f"n={values['n']!r} is no number of observations"
    if values["basis"] == "measured" and "any" in {values["part"], values["toolkit"]}:
        return "a measurement has a part and a toolkit, not any"
    try:
        expires = datetime.date.fromisoformat(values["expires"])
    except ValueError:
        return f"expires={values['expires']!r} is not a date"
    return ClaimBasis(values["basis"], int(values["n"]), values["part"], values["toolkit"], expires)


def from_one(behind: Iterable[ClaimBasis]) -> bool:
    """Return whether a claim rests on a single observation: no document of a maker, one recording or one report."""
    found = list(behind)
    return bool(found) and all(one.basis != "source" for one in found) and sum(one.n for one in found) == 1


def says_one(text: str) -> bool:
    """Return whether a claim tells the reader that it was seen once."""
    return _ONE.search(" ".join(text.split())) is not None


def outdated(behind: Mapping[str, ClaimBasis], today: datetime.date) -> Iterator[str]:
    """Yield the ids of the footnotes whose evidence has expired."""
    yield from (name for name, one in behind.items() if one.expires < today)
