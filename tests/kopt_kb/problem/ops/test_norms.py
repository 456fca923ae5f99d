"""Closed forms of the fused norm and of backward passes, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "options", "flops", "special", "read", "write"),
    [
        ("add_rms_norm", (2, 4), "bf16", {}, {("fp32", "vector"): 42}, {"rsqrt": 2}, 40, 32),
        ("rms_norm_backward", (2, 4), "bf16", {}, {("fp32", "vector"): 86}, {"rsqrt": 2}, 40, 24),
        ("layer_norm_backward", (2, 4), "bf16", {}, {("fp32", "vector"): 122}, {"rsqrt": 2}, 40, 32),
        ("cross_entropy_backward", (2, 4), "fp16", {}, {("fp32", "vector"): 38}, {"exp": 8}, 32, 16),
    ],
)
def test_by_hand(op, shape, dtype, options, flops, special, read, write):
    """Operations by engine, special functions and bytes of small shapes."""
    found = work(op, shape, dtype, **options)
    assert {(one.dtype, one.engine): one.useful.value for one in found.flops} == flops
    assert found.special_functions() == special
    assert (found.compulsory_bytes("dram", "read"), found.compulsory_bytes("dram", "write")) == (read, write)


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "options", "says"),
    [
        ("add_rms_norm", (2,), "bf16", {}, "1 dimensions"),
        ("cross_entropy_backward", (2, 4), "int32", {}, "not defined"),
    ],
)
def test_refused(op, shape, dtype, options, says):
    """With what to do."""
    with pytest.raises(BadInput, match=says):
        work(op, shape, dtype, **options)
