"""Totals that know what they bound."""

from __future__ import annotations

import numpy as np

from kopt_kb.analysis.ir.triton.tally import LOWER, UPPER, IrTally, exactness_of

KEY = ("executed", "flops", "fp32", "vector")


def tally(amount, flags=0):
    made = IrTally()
    made.add(KEY, amount, flags)
    return made


def test_flags_name_the_bound():
    """Both bits bound nothing."""
    assert [exactness_of(bits) for bits in (0, UPPER, LOWER, UPPER | LOWER)] == ["exact", "upper", "lower", "unknown"]


def test_including_adds_amounts_flags_bytes_and_notes():
    """Extra flags fall on everything that was included."""
    total, part = tally(1), tally(2)
    part.note(3, "why")
    part.touched["read"].add(np.array([0]), np.array([8]))
    total.include(part, UPPER)
    assert total.amounts[KEY] == 3
    assert total.flags[KEY] == UPPER
    assert total.touched["read"].size_bytes() == 8
    assert list(total.notes) == [(3, "why")]


def test_the_larger_of_two_alternatives_is_an_upper_bound():
    """Equal alternatives stay exact."""
    total = IrTally()
    total.include_larger(tally(5), tally(7))
    assert (total.amounts[KEY], total.flags[KEY]) == (7, UPPER)
    same = IrTally()
    same.include_larger(tally(5), tally(5))
    assert (same.amounts[KEY], same.flags.get(KEY, 0)) == (5, 0)


def test_what_may_have_run_only_marks():
    """A body that runs an unknown number of times makes its entries lower bounds."""
    total = tally(5)
    total.include_as_possible(tally(7, UPPER))
    assert (total.amounts[KEY], total.flags[KEY]) == (5, LOWER)


def test_costs_are_added_by_kind():
    """A cost of two a lane, three times."""
    total = IrTally()
    total.add_cost("useful", {("flops", "fp32", "vector"): 2}, 3)
    assert total.amounts == {("useful", "flops", "fp32", "vector"): 6}
