"""Lane movers: forward against numpy, backward as the exact reverse."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.analysis.ir.triton.irtypes import parse_type
from kopt_kb.analysis.ir.triton.model import Op
from kopt_kb.analysis.ir.triton.structure import backward, forward

CASES = [
    ("tt.expand_dims", {"axis": "1 : i32"}, ["tensor<4xi32>"], "tensor<4x1xi32>", 1),
    ("tt.reshape", {}, ["tensor<4x2xi32>"], "tensor<8xi32>", 1),
    ("tt.trans", {"order": "array<i32: 2, 0, 1>"}, ["tensor<2x3x4xi32>"], "tensor<4x2x3xi32>", 1),
    ("tt.join", {}, ["tensor<4xi32>", "tensor<4xi32>"], "tensor<4x2xi32>", 1),
    ("tt.split", {}, ["tensor<4x2xi32>"], "tensor<4xi32>", 2),
    ("tt.cat", {}, ["tensor<4xi32>", "tensor<4xi32>"], "tensor<8xi32>", 1),
]


@pytest.mark.parametrize(("name", "attributes", "sources", "result", "count"), CASES)
def test_demand_for_one_lane_goes_back_to_the_lane_it_came_from(name, attributes, sources, result, count):
    """Number all lanes, move them, ask for one result lane, and find its number in the operands."""
    op = Op(name, 1, (), tuple(range(count)), attributes)
    kinds, kind = [parse_type(text) for text in sources], parse_type(result)
    numbers, start = [], 0
    for source in kinds:
        numbers.append(np.arange(start, start + source.lanes).reshape(1, *source.shape))
        start += source.lanes
    moved = forward(op, kinds, kind, numbers)
    for which, part in enumerate(moved):
        for lane in range(part.size):
            demands = [np.zeros(part.shape, bool) if i == which else None for i in range(count)]
            demands[which].reshape(-1)[lane] = True
            back = backward(op, kinds, kind, demands)
            found = [
                n
                for array, demand in zip(numbers, back, strict=True)
                for n in array[np.broadcast_to(demand, array.shape)]
            ]
            assert found == [part.reshape(-1)[lane]]


def test_broadcasting_stays_lazy_and_gathers_demand():
    """A 4 x 1 column stretched to 4 x 8: any lane of a row asks for its element."""
    op = Op("tt.broadcast", 1, (), (0,))
    kinds, kind = [parse_type("tensor<4x1xi32>")], parse_type("tensor<4x8xi32>")
    column = np.arange(4).reshape(1, 4, 1)
    assert forward(op, kinds, kind, [column])[0] is column
    demand = np.zeros((1, 4, 8), bool)
    demand[0, 2, 5] = True
    assert backward(op, kinds, kind, [demand])[0].reshape(-1).tolist() == [False, False, True, False]


def test_splats_and_single_elements():
    """One scalar for all lanes; its demand is any of them."""
    op = Op("tt.splat", 1, (), (0,))
    kinds, kind = [parse_type("i32")], parse_type("tensor<4x8xi32>")
    assert forward(op, kinds, kind, [np.array([3, 4])])[0].shape == (2, 1, 1)
    demand = np.zeros((2, 4, 8), bool)
    demand[1, 0, 0] = True
    assert backward(op, kinds, kind, [demand])[0].tolist() == [False, True]
    unsplat = Op("tt.unsplat", 1, (), (0,))
    assert forward(unsplat, [parse_type("tensor<1xi32>")], parse_type("i32"), [np.array([[7]])])[0].tolist() == [7]
