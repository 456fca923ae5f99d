"""Combining abstract values."""

from __future__ import annotations

from kopt_kb.analysis.ir.source.values import NOTHING, TileValue, combined, expanded, joined

TILE = TileValue(2, plain=True)
ROW = TileValue(1, reduced=frozenset({7}))


def test_a_reduction_of_lower_rank_meets_a_tile() -> None:
    assert combined(ROW, TILE, {}).normed == {7}
    assert combined(TILE, expanded(ROW, 2), {}).normed == {7}


def test_equal_ranks_are_no_broadcast() -> None:
    """A bias added to a row sum normalises nothing."""
    assert not combined(ROW, TileValue(1, plain=True), {}).normed


def test_a_broadcast_meets_the_sum_it_reduced() -> None:
    """The largest of a sum, divided into that sum, normalises; into another sum, it does not."""
    total = TileValue(2, reduced=frozenset({1}))
    assert combined(expanded(ROW, 2), total, {7: frozenset({1})}).normed == {7}
    assert not combined(expanded(ROW, 2), total, {7: frozenset({3})}).normed


def test_join_keeps_what_both_ends_hold() -> None:
    both = joined(TILE, ROW)
    assert both.plain
    assert both.reduced == {7}
    assert joined(NOTHING, NOTHING) is NOTHING
