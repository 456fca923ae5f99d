"""How tokens fall on experts: evenly, by a power law, or as somebody's log counted them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words

__all__ = ["BALANCED", "Routing", "read_routing"]

_SKEW = re.compile(r"skew:([0-9]+(?:\.[0-9]+)?)")
_MOST_SKEW = 8.0
_MOST_BYTES = 1 << 20
_MOST_COUNT = 1 << 62


@dataclass(frozen=True, slots=True)
class Routing:
    """A distribution of rows over experts.

    Attributes:
        name: As it was given.
        skew: Exponent s of shares in proportion to 1 / rank^s; 0: every expert alike.
        counted: Rows of each expert in a log, whose shares are kept; empty where no log says so.
    """

    name: str = "balanced"
    skew: float = 0.0
    counted: tuple[int, ...] = ()

    def rows(self, tokens: int, top_k: int, experts: int) -> tuple[int, ...]:
        """Return the rows of each expert: they add up to tokens x top_k, and no token goes to an expert twice.

        Raises:
            BadInput: More experts of a token than there are, or a log of another number of experts.
        """
        if top_k > experts:
            what = f"a token can't go to {top_k} of {experts} experts"
            raise BadInput(what, where="--top-k", fix=f"give {experts} or less", code="KB102")
        if self.counted and len(self.counted) != experts:
            what = f"counts {len(self.counted)} experts, and the table has {experts}"
            raise BadInput(what, where=self.name, fix="give a log of the same layer", code="KB102")
        shares = self.counted or tuple((rank + 1) ** -self.skew for rank in range(experts))
        return _apportioned([float(one) for one in shares], tokens * top_k, tokens)


BALANCED = Routing()


def read_routing(text: str) -> Routing:
    """Return a routing: `balanced`, `skew:S`, or a file with the rows of each expert, as a JSON list or one a line.

    Raises:
        BadInput: It is none, or the file holds something else.
    """
    if text == BALANCED.name:
        return BALANCED
    if said := _SKEW.fullmatch(text):
        if float(said[1]) > _MOST_SKEW:
            raise BadInput(f"{text} is no skew", where="--routing", fix=f"up to skew:{_MOST_SKEW:g}", code="KB102")
        return Routing(text, float(said[1]))
    if not Path(text).is_file():
        what, fix = "is no routing and no file", "balanced, skew:1, or a file with the tokens of each expert"
        raise BadInput(what, where=f"--routing {text}", fix=fix, code="KB110")
    return Routing(text, counted=_counts(text))


def _counts(path: str) -> tuple[int, ...]:
    text = read_words(path, _MOST_BYTES)
    try:
        found = json.loads(text)
    except RecursionError as error:
        what = "is nested deeper than any list of counts"
        raise BadInput(what, where=path, fix="write a whole number of tokens for each expert", code="KB116") from error
    except ValueError:
        found = [int(one) if one.isascii() and one.isdecimal() else one for one in text.split()]
    found = found if isinstance(found, list) else [found]
    for at, one in enumerate(found):
        if not isinstance(one, int) or isinstance(one, bool) or not 0 <= one < _MOST_COUNT:
            what = f"the count of expert {at} is {str(one)[:40]}"
            raise BadInput(what, where=path, fix="write a whole number of tokens for each expert", code="KB116")
    if not sum(found):
        raise BadInput("counts no token", where=path, fix="give a log with some", code="KB116")
    return tuple(found)


def _apportioned(shares: list[float], rows: int, most: int) -> tuple[int, ...]:
    """Return whole numbers in proportion to shares that add up to `rows`, none above `most`; largest remainders."""
    wanted = [0.0] * len(shares)
    free, left = set(range(len(shares))), float(rows)
    while free:  # what an expert can't take falls on the others
        total = math.fsum(shares[one] for one in free)
        part = {one: left * (shares[one] / total if total else 1 / len(free)) for one in free}
        full = [one for one in free if part[one] >= most]
        if not full:
            for one, value in part.items():
                wanted[one] = value
            break
        for one in full:
            wanted[one] = float(most)
            free.discard(one)
        left -= most * len(full)
    found = [min(most, int(one)) for one in wanted]
    order = sorted(range(len(shares)), key=lambda one: (found[one] - wanted[one], one))
    missing = rows - sum(found)
    while missing:
        for one in order:
            if missing and found[one] < most:
                found[one] += 1
                missing -= 1
    return tuple(found)
