"""Rates follow from records and closed forms, and stay empty where nothing follows."""

from __future__ import annotations

import math

import pytest

from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.targets.rates import finite, rates_of, short


def record(shape, median_s):
    """One record."""
    return Measured("m", "c", shape, 1, median_s, {}, "r", 1)


def test_rates_by_hand(played):
    """rms_norm 8192x4096 in bf16 reads x and weight and writes y: 134,225,920 bytes; in 100 us 1342.26 GB/s."""
    moved = 2 * (2 * 8192 * 4096 + 4096)
    assert moved == 134_225_920
    attempt = played.workspace.state().attempts[1]
    one = rates_of(played.workspace.state(), attempt.own_records)[0]
    assert one.bytes_per_s == pytest.approx(moved / 1e-4)
    assert one.bandwidth_share == pytest.approx(moved / 1e-4 / 2.0e12)
    assert one.target_ratio == pytest.approx(moved / 1e-4 / 1.8e12)
    assert one.compute_share == pytest.approx(one.flops_per_s / 25.6e12)


def test_unjudged_rates_have_no_share_and_no_target(played):
    """Simulated times are compared with nothing."""
    records = {"1024x512": record("1024x512", 1e-5)}
    (one,) = rates_of(played.workspace.state(), records, judged=False)
    assert one.bytes_per_s is not None
    assert (one.compute_share, one.bandwidth_share, one.target_ratio) == (None, None, None)


@pytest.mark.parametrize("median_s", [0.0, -1.0, 5e-324])
def test_times_that_no_rate_follows_from(played, median_s):
    """Zero, negative, and so small that the rate is infinite."""
    (one,) = rates_of(played.workspace.state(), {"1024x512": record("1024x512", median_s)})
    assert (one.flops_per_s, one.bytes_per_s, one.target_ratio) == (None, None, None)


def test_a_shape_outside_the_problem_comes_last_and_is_not_judged(played):
    """Its work is still counted when it has the operation's form; nonsense is not."""
    records = {name: record(name, 1e-5) for name in ("2x2x2x2", "64x64", "1024x512")}
    found = rates_of(played.workspace.state(), records)
    assert [one.record.shape for one in found] == ["1024x512", "2x2x2x2", "64x64"]
    assert found[2].target_ratio is None


def test_numbers_json_cannot_carry_are_none():
    """NaN and infinities; six significant digits otherwise."""
    assert finite(math.inf) is finite(math.nan) is finite(None) is short(math.inf) is None
    assert short(1 / 3) == 0.333333
