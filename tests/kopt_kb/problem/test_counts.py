"""Counts are whole numbers, and bounds add up only in one direction."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read as read_document
from kopt_kb.problem.counts import Count, dram, weaker


@pytest.mark.parametrize("value", [-1, 1.0, True, "1"])
def test_a_count_is_a_whole_number_of_at_least_zero(value):
    """Floats would lose the last FLOPs of a large product."""
    with pytest.raises(BadInput):
        Count(value)


def test_an_exact_count_takes_the_bound_of_the_other():
    """3 exactly and at least 4 are at least 7."""
    assert Count(3) + Count(4, "lower") == Count(7, "lower")
    assert weaker("exact", "upper") == "upper"


def test_a_lower_and_an_upper_bound_do_not_add_up():
    """Their sum bounds nothing."""
    with pytest.raises(BadInput, match="neither"):
        Count(1, "lower") + Count(1, "upper")


def test_a_count_reads_back_as_written():
    """With its exactness."""
    assert read_document(Count, Count(2**62, "upper").to_json()) == Count(2**62, "upper")


def test_dram_bytes_keep_directions_apart():
    """Reads and writes may have different ceilings."""
    read, write = dram(3, 5)
    assert (read.direction, read.compulsory.value) == ("read", 3)
    assert (write.direction, write.compulsory.value) == ("write", 5)
