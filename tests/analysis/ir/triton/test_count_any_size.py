"""Counts of kernels of any size against their closed forms."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton import TensorArg


@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 5000))
def test_vadd_of_any_length_equals_its_closed_form(n, count):
    """12 bytes and one FLOP an element, whatever the last block looks like."""
    kernel = count("vadd", -(-n // 1024), {"n": n})
    assert kernel.requested_bytes.value == kernel.compulsory_bytes.value == 12 * n
    assert kernel.useful_flops.value == n


@settings(max_examples=12, deadline=None)
@given(m=st.integers(1, 300), n=st.integers(1, 300), k=st.integers(1, 200))
def test_gemm_of_any_size_equals_its_closed_form(m, n, k, count):
    """Tiles of 128 x 128 x 64: A once a tile column, B once a tile row, 2 m n k useful FLOP."""
    rows, columns, steps = -(-m // 128), -(-n // 128), -(-k // 64)
    args = {"m": m, "n": n, "k": k, "stride_am": k, "stride_bk": n, "stride_cm": n}
    kernel = count("gemm", rows * columns, args)
    assert kernel.read.requested.value == 2 * (m * k * columns + k * n * rows)
    assert kernel.read.compulsory.value == 2 * (m * k + k * n)
    assert kernel.useful_flops.value == 2 * m * n * k
    assert kernel.executed_flops.value == rows * columns * steps * 2 * 128 * 128 * 64


@settings(max_examples=12, deadline=None)
@given(rows=st.integers(1, 90), cols=st.integers(1, 200))
def test_shape_mode_never_counts_less_than_exact_mode(rows, cols, count):
    """Masks only take lanes away."""
    args = {"rows": rows, "cols": cols, 0: TensorArg((rows, cols), "fp32"), 1: TensorArg((cols,), "fp32")}
    exact, shape = (count("column_sums", -(-cols // 64), args, mode) for mode in ("exact", "shape"))
    assert shape.executed_flops == exact.executed_flops
    assert shape.requested_bytes.value >= exact.requested_bytes.value
    assert shape.compulsory_bytes.value >= exact.compulsory_bytes.value
    # Every trip adds its r real rows in r - 1 additions a column, and one more to the running sum.
    assert exact.useful_flops.value == rows * cols
