"""The closed form of matrix products, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


def test_an_odd_product():
    """1000x1104x520 in fp16: 1.148 GFLOP, 2,188,160 bytes in, 2,208,000 out."""
    found = work("gemm", (1000, 1104, 520), "fp16")
    assert found.flops_by_engine() == {("fp16", "matrix"): 1_148_160_000}
    assert found.compulsory_bytes("dram", "read") == 2_188_160
    assert found.compulsory_bytes("dram", "write") == 2_208_000


def test_a_batch_multiplies_everything():
    """Seven products."""
    one, seven = work("gemm", (3, 5, 7), "bf16"), work("gemm", (3, 5, 7), "bf16", batch=7)
    assert seven.flops_of("bf16", "matrix").value == 7 * one.flops_of("bf16", "matrix").value
    assert seven.compulsory_bytes() == 7 * one.compulsory_bytes()


@pytest.mark.parametrize(
    ("dtype", "options", "key", "out_bytes"),
    [
        ("fp8", {}, ("fp8", "matrix"), 2),
        ("int8", {}, ("int8", "matrix"), 4),
        ("bf16", {"out_dtype": "fp32"}, ("bf16", "matrix"), 4),
        ("fp32", {}, ("fp32", "vector"), 4),
        ("fp32", {"compute": "tf32"}, ("tf32", "matrix"), 4),
        ("fp32", {"engine": "matrix"}, ("fp32", "matrix"), 4),
    ],
)
def test_the_ceiling_and_the_result_follow_the_types(dtype, options, key, out_bytes):
    """Narrow operands give bf16, integers int32, unless said otherwise."""
    found = work("gemm", (32, 32, 32), dtype, **options)
    assert found.flops_by_engine() == {key: 65536}
    assert found.compulsory_bytes("dram", "write") == 1024 * out_bytes


def test_block_scales_are_bytes_too():
    """32x32 in mxfp4: 512 bytes and 32 scales for each operand."""
    assert work("gemm", (32, 32, 32), "mxfp4").compulsory_bytes("dram", "read") == 2 * (512 + 32)


def test_forward_and_backward_together():
    """Three products of the same size; A, B and dC are read again, dA and dB are written."""
    one, both = work("gemm", (8, 16, 32), "fp16"), work("gemm", (8, 16, 32), "fp16", step="forward_backward")
    assert both.flops_of("fp16", "matrix").value == 6 * 8 * 16 * 32 == 3 * one.flops_of("fp16", "matrix").value
    operands, result = 2 * (8 * 32 + 32 * 16), 2 * 8 * 16
    assert both.compulsory_bytes("dram", "read") == 2 * operands + result
    assert both.compulsory_bytes("dram", "write") == result + operands
    with pytest.raises(BadInput, match="option step is 'backward'"):
        work("gemm", (8, 16, 32), "fp16", step="backward")


def test_the_step_is_listed_only_where_it_is_no_default():
    """Problems recorded before the option existed read and render as they did."""
    assert "step" not in dict(work("gemm", (8, 16, 32), "fp16").options)
    assert "step" not in dict(work("gemm", (8, 16, 32), "fp16", step="forward").options)
    assert dict(work("gemm", (8, 16, 32), "fp16", step="forward_backward").options)["step"] == "forward_backward"
