"""What of a campaign's headline a training step keeps: gains multiplied, not added, by bucket."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.wire import Wire
from kopt_kb.packs.training_step.buckets import BucketWord

__all__ = ["INFLATION_LIMIT_PCT", "Attribution", "CheckedRound", "attribution", "decision_word", "real_gain_pct"]

INFLATION_LIMIT_PCT = 1.0
"""A headline that is further above what rounds can carry over is residue of the benchmark's loop."""

CheckWord = Literal["ACCEPT-as-real", "ACCEPT-with-asterisk", "REJECT-as-overfit"]


@dataclass(frozen=True, slots=True)
class CheckedRound(Wire):
    """An accepted round: its number, bucket, gain as measured, and the part that carries over, in percent."""

    round: int
    bucket: BucketWord
    gain_pct: float
    real_pct: float
    decision: CheckWord


@dataclass(frozen=True, slots=True)
class Attribution(Wire):
    """A campaign's gain by what it is made of.

    Attributes:
        headline_pct: Best version against the baseline.
        s_real_pct: Of rounds K1 to K4.
        w_real_pct: Of rounds W1, each within its bound.
        r_real_pct: Of rounds that may not be; 0 in a campaign that may be published.
        real_pct: What a training step keeps: the product of the two above.
        inflation_pct: Headline over that.
        verdict: What is to be done.
    """

    headline_pct: float
    s_real_pct: float
    w_real_pct: float
    r_real_pct: float
    real_pct: float
    inflation_pct: float
    verdict: Literal["clean", "inflated: roll back", "roll back first"]


def decision_word(bucket: BucketWord, *, forbidden: bool) -> CheckWord:
    """Return the one word that a bucket may end with."""
    if forbidden or bucket in {"W2", "W3"}:
        return "REJECT-as-overfit"
    return "ACCEPT-with-asterisk" if bucket == "W1" else "ACCEPT-as-real"


def real_gain_pct(bucket: BucketWord, gain_pct: float, bound_pct: float | None, *, forbidden: bool) -> float:
    """Return the part of a round's gain that a training step keeps, in percent."""
    if forbidden or bucket in {"W2", "W3"}:
        return 0.0
    return min(gain_pct, bound_pct or 0.0) if bucket == "W1" else gain_pct


def attribution(headline_pct: float, rounds: Iterable[CheckedRound]) -> Attribution:
    """Return the attribution of a campaign; gains are ratios, so that ten honest 3 % are 34.4 % and no inflation."""
    logs = {"S": 0.0, "W": 0.0, "R": 0.0}
    for one in rounds:
        kind = "S" if one.decision == "ACCEPT-as-real" else "W" if one.decision == "ACCEPT-with-asterisk" else "R"
        logs[kind] += math.log1p((one.gain_pct if kind == "R" else one.real_pct) / 100)
    s, w, r = (100 * math.expm1(logs[kind]) for kind in "SWR")
    real = 100 * math.expm1(logs["S"] + logs["W"])
    inflation = 100 * ((100 + headline_pct) / (100 + real) - 1)
    if logs["R"]:
        return Attribution(headline_pct, s, w, r, real, inflation, "roll back first")
    inflated = inflation > INFLATION_LIMIT_PCT
    return Attribution(headline_pct, s, w, r, real, inflation, "inflated: roll back" if inflated else "clean")
