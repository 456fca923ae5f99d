"""Products of real elements, against three nested loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kopt_kb.analysis.ir.triton.products import Factor, count_products, reached_left, reached_right

M, N, K = 3, 4, 5


def edge(rows, columns, shape):
    """Padding outside the first rows and columns."""
    return ~np.logical_and.outer(np.arange(shape[0]) < rows, np.arange(shape[1]) < columns)[None]


def masks(shape):
    anything = arrays(np.bool_, (1, *shape))
    edges = st.builds(edge, st.integers(0, shape[0]), st.integers(0, shape[1]), st.just(shape))
    return st.one_of(st.none(), anything, edges)


@settings(max_examples=80)
@given(demand=arrays(np.bool_, (2, M, N)), left=masks((M, K)), right=masks((K, N)))
def test_counts_and_reach_equal_the_definition(demand, left, right):
    """Whether or not one factor is a row-by-column mask."""
    a, b = Factor.of(left, (M, K)), Factor.of(right, (K, N))
    cube = demand[:, :, :, None] & a.real[:, :, None, :] & np.swapaxes(b.real, -1, -2)[:, None, :, :]
    assert count_products(demand, a, b) == cube.sum()
    through_b = demand[:, :, :, None] & np.swapaxes(b.real, -1, -2)[:, None, :, :]
    through_a = demand[:, :, :, None] & a.real[:, :, None, :]
    assert np.array_equal(np.broadcast_to(reached_left(demand, b), (2, M, K)), through_b.any(2))
    assert np.array_equal(np.broadcast_to(reached_right(demand, a), (2, K, N)), np.swapaxes(through_a.any(1), -1, -2))


def test_edge_masks_are_separable_and_triangles_are_not():
    """Rows below 2 and columns below 3; everything on or below the diagonal."""
    assert Factor.of(edge(2, 3, (M, K)), (M, K)).separable
    assert not Factor.of(~np.tri(M, K, dtype=bool)[None], (M, K)).separable
