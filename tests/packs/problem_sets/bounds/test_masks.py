"""Masks of needed elements: every rule keeps to what is needed."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.packs.problem_sets.bounds.masks import (
    all_of,
    broadcast_to,
    is_whole,
    joined,
    needed_elements,
    reshaped,
    windows,
)


def _mask(text):
    return np.array([one == "1" for one in text])


def test_an_operand_that_is_broadcast_is_needed_where_any_result_is():
    found = broadcast_to((_mask("0110"), _mask("01")), (1, 2))
    assert needed_elements(found) == 1 and not is_whole(found)
    assert needed_elements(broadcast_to((_mask("0110"), _mask("01")), (2,))) == 1


def test_an_operand_that_is_broadcast_has_its_own_extents_where_nothing_is_needed():
    found = broadcast_to((_mask("000"), _mask("01")), (1, 2))
    assert [len(one) for one in found] == [1, 2] and needed_elements(found) == 0


def test_a_union_that_is_no_product_is_the_larger_part():
    one, two = (_mask("110"), _mask("111")), (_mask("011"), _mask("111"))
    assert needed_elements(joined(one, two)) == 9
    assert needed_elements(joined(one, (_mask("001"), _mask("100")))) == 6
    assert joined(None, one) is one and joined(None, None) is None


@pytest.mark.parametrize(
    ("needed", "extent", "kernel", "stride", "start", "step", "reached"),
    [
        ("11", 6, 2, 3, 0, 1, "110110"),
        ("111", 5, 3, 2, -1, 1, "11111"),
        ("01", 6, 2, 2, 0, 2, "001010"),
        ("1", 7, 2, 1, 0, 3, "1001000"),
    ],
)
def test_a_window_reaches_the_inputs_of_its_taps(needed, extent, kernel, stride, start, step, reached):
    assert windows(_mask(needed), extent, kernel, stride, start, step).tolist() == _mask(reached).tolist()


def test_a_reshape_carries_rows_and_splits():
    rows = (_mask("101"), _mask("1111"))
    assert needed_elements(reshaped(rows, (12,), (3, 4))) == 8
    merged = reshaped((_mask("111100001111"),), (3, 4), (12,))
    assert [one.tolist() for one in merged] == [_mask("101").tolist(), _mask("1111").tolist()]
    assert is_whole(reshaped(all_of((12,)), (3, 4), (12,)))


def test_a_reshape_of_no_product_keeps_a_part_of_what_is_needed():
    found = reshaped((_mask("111110000000"),), (3, 4), (12,))
    cells = np.outer(*found)
    assert not (cells & ~np.array(_mask("111110000000")).reshape(3, 4)).any() and cells.any()
