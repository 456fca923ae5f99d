"""The statistics of timing are exact, and nothing is timed without a GPU."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.kernel.timing import interleave, measure, summarise

DURATIONS = st.lists(st.floats(1e-7, 10.0), min_size=3, max_size=60)


def test_a_summary_is_the_median_with_quantiles_and_spread():
    """Of 1 to 5 ms the median is 3, the 20 % quantile 1.8, the median absolute deviation 1."""
    found = summarise([5e-3, 1e-3, 4e-3, 2e-3, 3e-3])
    assert found.median_s == 3e-3
    assert found.p20_s == pytest.approx(1.8e-3)
    assert found.p80_s == pytest.approx(4.2e-3)
    assert found.min_s == 1e-3
    assert found.spread_pct == pytest.approx(100 * 1.4826 / 3)


def test_one_outlier_moves_neither_median_nor_spread():
    """A hiccup of the machine is not a property of the kernel."""
    assert summarise([1.0, 1.0, 1.0, 1.0, 50.0]).median_s == 1.0
    assert summarise([1.0, 1.0, 1.0, 1.0, 50.0]).spread_pct == 0.0


@pytest.mark.parametrize("bad", [[1.0, 2.0], [1.0, 2.0, math.nan], [1.0, 0.0, 2.0], [1.0, -1.0, 2.0], [math.inf] * 3])
def test_what_is_no_duration_is_refused(bad):
    """Too few runs, NaN, zero, negative and infinite times are errors, not results."""
    with pytest.raises(BadInput):
        summarise(bad)


@settings(max_examples=50, deadline=None)
@given(DURATIONS)
def test_the_quantiles_of_a_summary_are_ordered(durations):
    """min ≤ 20 % ≤ median ≤ 80 %."""
    found = summarise(durations)
    tiny = 1e-12 * found.p80_s
    assert found.min_s <= found.p20_s + tiny
    assert found.p20_s <= found.median_s + tiny
    assert found.median_s <= found.p80_s + tiny


def test_functions_run_in_turn_and_the_order_alternates():
    """a b, b a, a b."""
    calls = []
    timers = [lambda: calls.append("a") or 1.0, lambda: calls.append("b") or 2.0]
    assert interleave(timers, 3) == ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))
    assert "".join(calls) == "abbaab"


def test_timing_without_a_gpu_says_what_is_missing():
    """There is no fall-back to the CPU's clock."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(MissingTool, match="no GPU"):
        measure([lambda: None])
