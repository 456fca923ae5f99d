"""Closed forms of products beside the plain one, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "options", "flops", "special", "read", "write"),
    [
        ("gemv", (3, 4), "bf16", {}, {("bf16", "matrix"): 24}, {}, 32, 6),
        ("batched_gemm", (2, 3, 4, 5), "bf16", {}, {("bf16", "matrix"): 240}, {}, 60 + 80, 48),
        (
            "gemm_bias_act",
            (3, 4, 5),
            "bf16",
            {"act": "gelu"},
            {("bf16", "matrix"): 120, ("fp32", "vector"): 60},
            {"erf": 12},
            30 + 40 + 8,
            24,
        ),
        ("gemm_bias_act", (3, 4, 5), "fp32", {}, {("fp32", "vector"): 144}, {}, 156, 48),
        (
            "int4_gemm",
            (3, 4, 128),
            "bf16",
            {},
            {("bf16", "matrix"): 3072, ("fp32", "vector"): 1024},
            {},
            768 + 256 + 8,
            24,
        ),
        (
            "fp8_gemm",
            (3, 128, 256),
            "fp8",
            {},
            {("fp8", "matrix"): 196608, ("fp32", "vector"): 33536},
            {},
            768 + 32768 + 32,
            768,
        ),
        (
            "conv2d",
            (1, 2, 5, 5),
            "bf16",
            {"channels": 3, "padding": 0, "stride": 2},
            {("bf16", "matrix"): 432},
            {},
            100 + 108,
            24,
        ),
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
        ("int4_gemm", (3, 4, 100), "bf16", {}, "group"),
        ("fp8_gemm", (3, 4, 128), "fp8", {}, "block"),
        ("conv2d", (1, 1, 2, 2), "bf16", {"kernel": 5, "padding": 0}, "does not fit"),
        ("gemm_bias_act", (1, 1, 1), "bf16", {"act": "tanh"}, "relu or gelu"),
    ],
)
def test_refused(op, shape, dtype, options, says):
    """With what to do."""
    with pytest.raises(BadInput, match=says):
        work(op, shape, dtype, **options)
