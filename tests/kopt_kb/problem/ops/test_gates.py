"""Closed forms of GELU, GEGLU and the choice of experts, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "options", "flops", "special", "read", "write"),
    [
        ("gelu", (2, 3), "bf16", {}, {("fp32", "vector"): 24}, {"erf": 6}, 12, 12),
        ("geglu", (2, 3), "fp16", {}, {("fp32", "vector"): 30}, {"erf": 6}, 24, 12),
        ("moe_gate", (2, 16), "bf16", {"k": 2}, {("fp32", "vector"): 2 * (62 + 3)}, {"exp": 32}, 64, 2 * 2 * (2 + 8)),
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
        ("moe_gate", (2, 4), "bf16", {}, "k is 8"),
    ],
)
def test_refused(op, shape, dtype, options, says):
    """With what to do."""
    with pytest.raises(BadInput, match=says):
        work(op, shape, dtype, **options)
