"""Work of products and convolutions from the shapes that a trace has of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.step_ranking.operands import MOST_ELEMENTS, Operand, Shaped
from kopt_kb.problem.counts import FlopCount, dram, exact
from kopt_kb.problem.dtypes import DTYPES, matrix_compute
from kopt_kb.problem.work import Work, work

__all__ = ["PRODUCTS", "mode_of", "template_product"]

_TF32 = re.compile(r"tf32|s1688|tensorop_s|_s16816(?!gemm_(?:f16|bf16))", re.IGNORECASE)
_MATRIX = re.compile(r"_MI\d+x\d+|mfma|xdl", re.IGNORECASE)


def mode_of(shaped: Shaped, dtype: str) -> dict[str, str]:
    """Return what the kernels' names say of the arithmetic of fp32 operands: tf32, matrix or vector engine."""
    if dtype != "fp32":
        return {}
    if shaped.runs(_TF32):
        return {"compute": "tf32"}
    return {"engine": "matrix"} if shaped.runs(_MATRIX) else {}


def _gemm(shaped: Shaped, left: Operand | None, right: Operand | None) -> Work | None:
    """Return the product of two operands, [..., M, K] and [..., K, N]."""
    if left is None or right is None or left.dtype not in DTYPES or len(left.dims) < 2 or len(right.dims) < 2:
        return None
    *batches, rows, depth = left.dims
    if depth != right.dims[-2] or not prod((*left.dims, right.dims[-1])):
        return None
    shape = (rows, right.dims[-1], depth)
    return work("gemm", shape, left.dtype, batch=prod(batches), **mode_of(shaped, left.dtype))


def _mm(place: int) -> Callable[[Shaped], Work | None]:
    return lambda shaped: _gemm(shaped, shaped.at(place), shaped.at(place + 1))


def _linear(shaped: Shaped) -> Work | None:
    value, weight = shaped.at(0), shaped.at(1)
    if value is None or weight is None or len(weight.dims) != 2 or not value.dims:
        return None
    rows = Operand((prod(value.dims[:-1]), value.dims[-1]), value.dtype, value.width)
    return _gemm(shaped, rows, Operand(weight.dims[::-1], weight.dtype, weight.width))


def _vector(place: int) -> Callable[[Shaped], Work | None]:
    def count(shaped: Shaped) -> Work | None:
        matrix, vector = shaped.at(place), shaped.at(place + 1)
        if matrix is None or vector is None or len(vector.dims) != 1:
            return None
        return _gemm(shaped, matrix, Operand((*vector.dims, 1), vector.dtype, vector.width))

    return count


def template_product(shaped: Shaped) -> Work | None:
    """Return the product of a generated kernel whose tensors are [M, K], [K, N] and [M, N], in any order."""
    flat = [one for one in shaped.tensors if len(one.dims) == 2]
    for left in flat:
        for right in flat:
            fits = left is not right and left.dims[1] == right.dims[0]
            if fits and any(one.dims == (left.dims[0], right.dims[1]) for one in flat if one not in (left, right)):
                return _gemm(shaped, left, right)
    return None


def _convolution(padding: int, stride: int, dilation: int) -> Callable[[Shaped], Work | None]:
    """Return the rule of a convolution whose first arguments are input and weight, with the places of the others."""

    def count(shaped: Shaped) -> Work | None:
        value, weight = shaped.at(0), shaped.at(1)
        pads, steps, gaps = (shaped.numbers(one) for one in (padding, stride, dilation))
        if value is None or weight is None or len(value.dims) < 3 or not (pads and steps and gaps):
            return None
        if min(pads) < 0 or min(*steps, *gaps) < 1:
            return None
        kernel = weight.dims[2:]
        sizes = [_fitted(one, len(kernel)) for one in (pads, steps, gaps)]
        result = [
            (extent + 2 * pad - gap * (size - 1) - 1) // step + 1
            for extent, size, pad, step, gap in zip(value.dims[2:], kernel, *sizes, strict=True)
        ]
        written = value.dims[0] * weight.dims[0] * prod(result)
        if min(result, default=0) < 1 or written > MOST_ELEMENTS:
            return None
        return _convolved(shaped, value, weight, written, 1)

    return count


def _general(shaped: Shaped) -> Work | None:
    if shaped.said(6) != "False":
        return None  # transposed, or a trace without values
    return _convolution(4, 3, 5)(shaped)


def _backward(shaped: Shaped) -> Work | None:
    """Return both gradients, or as many as the mask asks for; one where the trace does not say."""
    gradient, value, weight = (shaped.at(one) for one in range(3))
    if gradient is None or value is None or weight is None or shaped.said(7) == "True":
        return None
    wanted = sum("True" in one for one in shaped.said(10).split(",")[:2])
    return _convolved(shaped, value, weight, gradient.elements, max(wanted, 1))


def _convolved(shaped: Shaped, value: Operand, weight: Operand, results: int, times: int) -> Work | None:
    if value.dtype not in DTYPES:
        return None
    mode = mode_of(shaped, value.dtype)
    compute = matrix_compute(DTYPES[value.dtype], mode.get("compute", "storage"), mode.get("engine", "auto"))
    flops = 2 * results * prod(weight.dims[1:]) * times
    read, written = value.bytes + weight.bytes, results * value.width
    moved = dram(read, written) if times == 1 else dram(read + written, read)
    return Work("conv", (), value.dtype, (FlopCount(*compute, exact(flops)),), moved)


def _fitted(values: tuple[int, ...], axes: int) -> tuple[int, ...]:
    return values if len(values) == axes else values[:1] * axes


def guarded(rule: Callable[[Shaped], Work | None]) -> Callable[[Shaped], Work | None]:
    """Return a rule that knows nothing of what the closed form refuses, such as blocks that don't divide K."""

    def count(shaped: Shaped) -> Work | None:
        try:
            return rule(shaped)
        except BadInput:
            return None

    return count


PRODUCTS: Mapping[str, Callable[[Shaped], Work | None]] = {
    "aten::mm": _mm(0),
    "aten::bmm": _mm(0),
    "aten::_int_mm": _mm(0),
    "aten::_scaled_mm": _mm(0),
    "aten::addmm": _mm(1),
    "aten::addmm_": _mm(1),
    "aten::_addmm_activation": _mm(1),
    "aten::baddbmm": _mm(1),
    "aten::baddbmm_": _mm(1),
    "aten::linear": _linear,
    "aten::mv": _vector(0),
    "aten::addmv": _vector(1),
    "aten::addmv_": _vector(1),
    "aten::cudnn_convolution": _convolution(2, 3, 4),
    "aten::miopen_convolution": _convolution(3, 4, 5),
    "aten::miopen_depthwise_convolution": _convolution(3, 4, 5),
    "aten::cudnn_convolution_relu": _convolution(4, 3, 5),
    "aten::_conv_depthwise2d": _convolution(5, 4, 6),
    "aten::convolution": _general,
    "aten::_convolution": _general,
    "aten::convolution_backward": _backward,
}
"""Operator → its work; None where its shapes do not say it."""
