"""The statistics of timing are exact, and nothing is timed without a GPU."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.kernels.timing import (
    compare_samples,
    interleave,
    measure,
    noise_floor,
    summarise,
)

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


def test_a_clear_gain_is_faster_and_its_mirror_slower():
    """10 % faster in every pair, with noise of 1 %."""
    old, new = [1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1], [1.0] * 8
    found = compare_samples(old, new, noise_pct=1.0)
    assert found.gain_pct == pytest.approx(10.0)
    assert found.faster
    assert compare_samples(new, old, noise_pct=1.0).slower


def test_a_gain_within_the_noise_is_neither():
    """0.5 % faster with a noise floor of 1 % decides nothing."""
    found = compare_samples([1.005] * 8, [1.0] * 8, noise_pct=1.0)
    assert not found.faster
    assert not found.slower


def test_an_interval_that_holds_zero_is_neither():
    """Half the pairs win by 20 %, half lose by 20 %."""
    found = compare_samples([1.2, 0.8] * 10, [1.0] * 20)
    assert found.gain_low_pct < 0 < found.gain_high_pct
    assert not found.faster
    assert not found.slower


def test_the_interval_of_the_median_covers_it_in_at_least_95_of_100_experiments():
    """400 experiments of 30 draws from a skewed distribution whose median is ln 2."""
    draw = random.Random(7)
    held = 0
    for _ in range(400):
        old = [1 + draw.expovariate(1.0) for _ in range(30)]
        found = compare_samples(old, [1.0] * 30)
        held += found.gain_low_pct <= 100 * math.log(2) <= found.gain_high_pct
    assert held / 400 >= 0.93


@settings(max_examples=50, deadline=None)
@given(DURATIONS)
def test_a_function_is_neither_faster_nor_slower_than_itself(durations):
    """The same durations twice give a gain of zero."""
    found = compare_samples(durations, durations)
    assert found.gain_pct == 0.0
    assert not (found.faster or found.slower)


@settings(max_examples=50, deadline=None)
@given(DURATIONS)
def test_the_quantiles_of_a_summary_are_ordered(durations):
    """min ≤ 20 % ≤ median ≤ 80 %."""
    found = summarise(durations)
    tiny = 1e-12 * found.p80_s
    assert found.min_s <= found.p20_s + tiny
    assert found.p20_s <= found.median_s + tiny
    assert found.median_s <= found.p80_s + tiny


def test_unequal_numbers_of_runs_are_refused():
    """Pairs need a partner each."""
    with pytest.raises(BadInput, match="3 runs against 4"):
        compare_samples([1.0] * 3, [1.0] * 4)


def test_the_noise_floor_is_the_largest_deviation_of_a_run():
    """Medians 100, 101 and 98: 98 is 2 % from the middle."""
    assert noise_floor([[100.0] * 3, [101.0] * 3, [98.0] * 3]) == pytest.approx(2.0)
    with pytest.raises(BadInput, match="at least twice"):
        noise_floor([[1.0] * 3])


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


def test_a_comparison_becomes_json():
    """Both verdicts are part of it."""
    data = compare_samples([1.1] * 8, [1.0] * 8).to_json()
    assert data["faster"] is True
    assert data["incumbent"]["count"] == 8
