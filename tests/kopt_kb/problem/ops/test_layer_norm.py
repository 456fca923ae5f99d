"""The closed form of layer normalisation, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("weight", "bias", "per_row"), [(True, True, 71), (True, False, 61), (False, True, 61), (False, False, 51)]
)
def test_a_row_of_ten(weight, bias, per_row):
    """Mean 10, centring 10, squares 10, sum 9, mean 1, eps 1, scaling 10, then 10 for each vector."""
    found = work("layer_norm", (4, 10), "fp16", weight=weight, bias=bias)
    assert found.flops_of("fp32", "vector").value == 4 * per_row
    assert found.special_functions() == {"rsqrt": 4}


def test_bytes_hold_both_vectors_once():
    """4x10 in fp16: 80 in, 80 out, 20 for each vector."""
    assert work("layer_norm", (4, 10), "fp16").compulsory_bytes("dram", "read") == 80 + 40
    assert work("layer_norm", (4, 10), "fp16").compulsory_bytes("dram", "write") == 80
