"""Supposed values: what they would give, and that no target can rest on them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.assess import assess
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.what_if import NOTE, what_if
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import NotACeiling, UnknownData
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.targets.own import stop_conditions

STREAM = Work.given(10**9, 2 * 10**9, "fp32", "vector")
"""1 ms of bytes at 2 TB/s; its operations take 39 us."""


@pytest.fixture
def part(wiki_root: Path) -> Platform:
    """The invented product."""
    return Registry.open(wiki_root).platform("T10")


def test_twice_the_bandwidth_is_half_the_time(part: Platform) -> None:
    """The bound stays, the row and its factor are named, and the result says what it is."""
    supposed = what_if(part, memory_bandwidth=2)
    (change,) = supposed.changes
    assert (change.key, change.now, change.supposed) == ("memory_bandwidth", "2.0 TB/s", "4 TB/s")
    assert change.citation.endswith(f"L{part.rows('memory_bandwidth')[0].line}")
    found = supposed.roofline(STREAM)
    assert (found.now.least_s, found.supposed.least_s, found.speedup) == (1e-3, 5e-4, 2)
    assert found.notes == (NOTE,) and supposed.to_json()["note"] == NOTE


def test_the_bound_moves_with_the_roof(part: Platform) -> None:
    """At a hundred times the bandwidth operations bind."""
    found = what_if(part, memory_bandwidth=100).roofline(STREAM)
    assert (found.now.limiter, found.supposed.limiter) == ("dram", "fp32 vector")
    assert found.speedup == pytest.approx(25.6)


def test_what_is_no_roof_of_the_work_is_said(part: Platform) -> None:
    """More units change no rated peak, and no time."""
    found = what_if(part, sm_count=2).roofline(STREAM)
    assert found.speedup == 1 and "sm_count is no roof of this work" in found.notes


def test_a_key_chooses_one_row(part: Platform) -> None:
    """And exact factors stay exact."""
    dense = "peak_compute[dtype=fp32;engine=vector;sparsity=dense]"
    (change,) = what_if(part, **{dense: 0.1}).changes
    assert change.factor == Fraction(1, 10) and change.supposed == "2.56 TFLOPS"


def test_no_target_rests_on_it(part: Platform) -> None:
    """Neither by the result nor by the product inside it, and the refusal says why."""
    supposed = what_if(part, memory_bandwidth=2)
    for ask in (roofline, stop_conditions, lambda work, product: assess(1e-3, work, product)):
        with pytest.raises(BadInput, match="no target and no Stop Condition can rest on them"):
            ask(STREAM, supposed)
        with pytest.raises(NotACeiling, match="what if|Given"):
            ask(STREAM, supposed._platform)


@pytest.mark.parametrize(
    "factors", [{}, {"memory_bandwidth": 0}, {"memory_bandwidth": -1}, {"memory_bandwidth": True}, {"speed": 2}]
)
def test_bad_factors(part: Platform, factors: dict[str, float]) -> None:
    """Nothing, no factor, no metric."""
    with pytest.raises(BadInput):
        what_if(part, **factors)


def test_an_unknown_value_has_no_double(part: Platform) -> None:
    """UNKNOWN times two."""
    with pytest.raises(UnknownData):
        what_if(part, **{"peak_compute[dtype=bf16]": 2})
