"""Claims about what the caches before device memory may hold back."""

from __future__ import annotations

from fractions import Fraction

from kopt_kb.analysis.roofline.caches import held_by


def _held(*known: tuple[str, int], unknown: tuple[str, ...] = ()) -> Fraction | None:
    return held_by(((key, Fraction(size)) for key, size in known), unknown)


def test_levels_add_up_and_of_a_level_the_largest_row_counts() -> None:
    """A dirty line of L2 need not lie in the cache behind it; a die's share and a smaller part are within the whole."""
    assert _held(("l2_capacity[scope=xcd]", 4), ("l2_capacity", 32), ("llc_capacity", 256)) == 288
    assert _held(("l2_capacity", 50), ("l2_capacity[config=full]", 60)) == 60
    assert _held(("sm_count", 132), ("l2_capacity", 50)) == 50


def test_a_level_that_nobody_states_may_hold_anything() -> None:
    """UNKNOWN is no zero, beside a known level either; a level that the part lacks has no row with a value."""
    assert _held(unknown=("l2_capacity",)) is None
    assert _held(("l2_capacity", 192), unknown=("llc_capacity",)) is None
    assert _held() is None
    assert _held(("l2_capacity", 8), ("l2_capacity[scope=gcd]", 4), unknown=("l2_capacity[config=full]",)) == 8
