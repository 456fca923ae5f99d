"""Run-time values: lanes, merging, demand, block views."""

from __future__ import annotations

import numpy as np

from kopt_kb.analysis.ir.triton.irtypes import parse_type
from kopt_kb.analysis.ir.triton.values import BlockView, Node, compact, expand, lanes, merge_arrays, shape_of


def test_unit_axes_count_at_full_length():
    """A row mask of a 4 x 8 tensor, the same in 3 programs."""
    rows = np.array([True, False, True, True]).reshape(1, 4, 1)
    assert lanes(rows, 3, (4, 8)) == 3 * 3 * 8
    assert lanes(np.ones((3, 4, 8), bool), 3, (4, 8)) == 96
    assert lanes(np.array([True]), 5, ()) == 5


def test_merging_takes_each_program_from_its_side():
    """Program axis first; unit axes broadcast."""
    one, two = np.arange(4).reshape(1, 4), np.full((2, 1), 9)
    merged = merge_arrays(np.array([True, False]), one, two)
    assert merged.tolist() == [[0, 1, 2, 3], [9, 9, 9, 9]]
    assert merge_arrays(np.array([True, True]), one, two) is one


def test_demand_grows_and_stops_at_leaves():
    """A leaf or a constant has nothing upstream that counts."""
    node, leaf, constant = Node((2,)), Node((2,), leaf=True), Node((2,), const=1.0)
    for demand in ([[True, False]], [[False, True]]):
        for target in (node, leaf, constant):
            target.require(np.array(demand))
    assert node.demand is not None
    assert node.demand.tolist() == [[True, True]]
    assert leaf.demand is None
    assert constant.demand is None


def test_block_views_move_and_merge():
    """Two programs that advanced differently."""
    one = np.ones(1, np.int64)
    view = BlockView(one * 64, (one * 100,), (one,), (one * 0,), (16,), 4)
    moved = view.moved([np.array([16])])
    assert moved.offsets[0].tolist() == [16]
    assert moved.merged(np.array([True, False]), view).offsets[0].tolist() == [16, 0]


def test_shapes_and_expansion():
    """Pointers and scalars have no dimensions."""
    assert shape_of(parse_type("tensor<4x8xf16>")) == (4, 8)
    assert shape_of(parse_type("!tt.ptr<tensor<4x8xf16>>")) == ()
    assert expand(np.zeros(3), 2).shape == (3, 1, 1)


def test_a_mask_is_kept_as_small_as_what_differs_in_it():
    """Axes along which nothing differs become unit axes; programs stay, and nothing else changes."""
    programs = np.array([True, False, True]).reshape(3, 1, 1)
    assert compact(np.broadcast_to(programs, (3, 4, 5))).shape == (3, 1, 1)
    rows = np.zeros((3, 4, 5), np.bool_)
    rows[1, :2] = True
    small = compact(rows)
    assert small.shape == (3, 4, 1)
    assert np.array_equal(np.broadcast_to(small, rows.shape), rows)
    assert compact(np.ones((1, 2, 2), np.bool_)).shape == (1, 1, 1)
