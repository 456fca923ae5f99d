"""Closed forms of rotary embedding, transpose, embedding, histogram and scan, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize(
    ("op", "shape", "dtype", "options", "flops", "special", "read", "write"),
    [
        ("rope", (1, 3, 2, 4), "bf16", {}, {("fp32", "vector"): 72}, {}, 48 + 24, 48),
        ("transpose", (2, 3), "fp16", {}, {("fp32", "vector"): 0}, {}, 12, 12),
        ("embedding", (5, 3, 4), "bf16", {}, {("fp32", "vector"): 0}, {}, 3 * 4 * 2 + 5 * 8, 5 * 4 * 2),
        ("histogram", (10, 4), "int32", {}, {("int32", "vector"): 10}, {}, 56, 16),
        ("scan", (3, 5), "fp32", {}, {("fp32", "vector"): 12}, {}, 60, 60),
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
        ("rope", (1, 1, 1, 3), "bf16", {}, "pairs"),
        ("histogram", (4, 4), "bf16", {}, "not defined"),
    ],
)
def test_refused(op, shape, dtype, options, says):
    """With what to do."""
    with pytest.raises(BadInput, match=says):
        work(op, shape, dtype, **options)
