"""Waves and tiles only ever lose."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.roofline.quantisation import quantise
from kopt_kb.base.errors import BadInput


def test_by_hand() -> None:
    """300 blocks on 132 SMs of 2: 1.14 waves cost 2, so 300 of 528 slots; 8 of 10 operations useful."""
    found = quantise(300, 132, 2, useful=8, executed=10)
    assert found.waves == Fraction(300, 264)
    assert found.wave_efficiency == Fraction(300, 528)
    assert found.efficiency == Fraction(300, 528) * Fraction(4, 5)


@given(st.integers(1, 10**6), st.integers(1, 400), st.integers(1, 32), st.integers(1, 10**9), st.integers(0, 10**9))
def test_never_above_the_device(blocks: int, sms: int, resident: int, useful: int, padding: int) -> None:
    """Peak times efficiency is at most the peak, and whole waves lose nothing."""
    found = quantise(blocks, sms, resident, useful=useful, executed=useful + padding)
    assert 0 < found.efficiency <= 1
    assert quantise(blocks * sms * resident, sms, resident).wave_efficiency == 1


@pytest.mark.parametrize("bad", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_nothing_is_no_grid(bad: tuple[int, int, int]) -> None:
    """Counts are positive."""
    with pytest.raises(BadInput):
        quantise(*bad)


def test_useful_is_part_of_executed() -> None:
    """More useful than executed is a counting error."""
    with pytest.raises(BadInput):
        quantise(1, 1, 1, useful=2, executed=1)
