"""Padding in arithmetic: what a masked lane turns into, and when nothing can be said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kopt_kb.analysis.ir.triton.padding import fold, identity_of, propagate
from kopt_kb.analysis.ir.triton.values import Node

PAD = np.array([[False, False, True, True]])
OTHER = np.array([[False, True, False, True]])


def padded(fill, mask=PAD):
    return Node((4,), mask, fill)


VARYING, INF = Node((4,)), math.inf


@pytest.mark.parametrize(
    ("name", "left", "right", "fill"),
    [
        ("arith.mulf", padded(0.0), VARYING, 0.0),
        ("arith.mulf", VARYING, padded(0.0), 0.0),
        ("arith.divf", padded(0.0), VARYING, 0.0),
        ("arith.subf", padded(-INF), VARYING, -INF),
        ("arith.subf", VARYING, padded(-INF), INF),
        ("arith.addf", VARYING, padded(-INF), -INF),
        ("arith.maxnumf", padded(INF), VARYING, INF),
        ("arith.mulf", padded(2.0), padded(3.0), 6.0),
        ("arith.addf", padded(2.0), Node((4,), const=1.0), 3.0),
    ],
)
def test_lanes_that_stay_padding(name, left, right, fill):
    """Absorbed or folded: the operation did nothing there."""
    found = propagate(name, [left, right])
    assert found.fill == fill
    assert found.pad.tolist() == found.idle.tolist() == PAD.tolist()
    assert found.lost is None


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("arith.addf", VARYING, padded(0.0)),
        ("arith.subf", VARYING, padded(0.0)),
        ("arith.mulf", padded(1.0), VARYING),
        ("arith.maxnumf", padded(-INF), VARYING),
    ],
)
def test_identities_pass_the_other_operand_on(name, left, right):
    """The lane is data again, but the operation was no work."""
    found = propagate(name, [left, right])
    assert found.pad is None
    assert found.idle.tolist() == PAD.tolist()


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [("arith.subf", padded(0.0), VARYING), ("arith.addf", padded(5.0), VARYING), ("math.powf", padded(2.0), VARYING)],
)
def test_padding_mixed_with_data_is_lost_and_says_so(name, left, right):
    """Nobody knows what the lane means."""
    found = propagate(name, [left, right])
    assert found.pad is None
    assert found.lost.tolist() == PAD.tolist()


def test_unary_functions_fold_the_fill():
    """exp of minus infinity is zero; an unknown function loses the lane."""
    assert propagate("math.exp2", [padded(-INF)]).fill == 0.0
    assert propagate("arith.truncf", [padded(0.0)]).fill == 0.0
    assert propagate("tt.extern_elementwise", [padded(0.0)]).lost is not None


def test_undefined_lanes_stay_undefined():
    """A masked load without a padding value."""
    found = propagate("arith.addf", [padded(None), VARYING])
    assert found.pad.tolist() == PAD.tolist()
    assert found.fill is None


def test_two_different_masks():
    """0 * x and x * 0: either side absorbs; 0 + x and x + 0: only where both are zero does the zero stay."""
    product = propagate("arith.mulf", [padded(0.0), padded(0.0, OTHER)])
    assert product.pad.tolist() == (PAD | OTHER).tolist()
    total = propagate("arith.addf", [padded(0.0), padded(0.0, OTHER)])
    assert total.pad.tolist() == (PAD & OTHER).tolist()
    assert total.idle.tolist() == (PAD | OTHER).tolist()


def test_constants_fold_and_identities_are_known():
    """Unknown operands and operations give None."""
    assert fold("arith.mulf", [2.0, 4.0]) == 8.0
    assert fold("arith.mulf", [2.0, None]) is None
    assert fold("math.fma", [1.0, 1.0, 1.0]) is None
    assert identity_of("arith.addf") == 0.0
    assert identity_of("arith.subf") is None
