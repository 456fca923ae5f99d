"""The closed form of reductions, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("options", "flops", "outputs"),
    [
        ({}, 2 * 3 * 3, 6),
        ({"axis": 0}, 12, 12),
        ({"axis": -2, "kind": "max"}, 16, 8),
        ({"axis": 1, "kind": "mean"}, 16 + 8, 8),
        ({"all": True}, 23, 1),
    ],
)
def test_an_output_of_n_inputs_takes_one_less(options, flops, outputs):
    """A 2x3x4 tensor in fp32, along each axis."""
    found = work("reduction", (2, 3, 4), "fp32", **options)
    assert found.flops_of("fp32", "vector").value == flops
    assert found.compulsory_bytes("dram", "read") == 96
    assert found.compulsory_bytes("dram", "write") == 4 * outputs


def test_an_axis_outside_the_shape_is_refused():
    """With the range that would do."""
    with pytest.raises(BadInput, match="give -2 to 1"):
        work("reduction", (2, 3), "fp32", axis=5)
