"""Closed forms of attention over a paged cache and of a selective scan, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "options", "flops", "special", "read", "write"),
    [
        (
            "attention_decode",
            (1, 2, 16, 4),
            "bf16",
            {},
            {("bf16", "matrix"): 512, ("fp32", "vector"): 132},
            {"exp": 32},
            16 + 512 + 4,
            16,
        ),
        (
            "attention_decode",
            (1, 2, 16, 4),
            "bf16",
            {"kv_heads": 1, "page": 8},
            {("bf16", "matrix"): 512, ("fp32", "vector"): 132},
            {"exp": 32},
            280,
            16,
        ),
        ("mamba_scan", (1, 3, 2, 4), "bf16", {}, {("fp32", "vector"): 156}, {"exp": 24}, 24 + 48 + 16 + 4, 12),
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
        ("attention_decode", (1, 3, 16, 4), "bf16", {"kv_heads": 2}, "divisor|divide"),
        ("attention_decode", (1, 2, 10, 4), "bf16", {}, "page"),
    ],
)
def test_refused(op, shape, dtype, options, says):
    """With what to do."""
    with pytest.raises(BadInput, match=says):
        work(op, shape, dtype, **options)
