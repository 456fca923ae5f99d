"""Closed forms of normalisations beside the plain ones: fused with an add, and backward passes."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import SAFE

__all__ = ["DEFINITIONS"]


def _add_rms_norm(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, cols = shape
    compute, moved = vector_compute(dtype), dtype.storage_bytes(rows * cols)
    per_row = cols + cols + (cols - 1) + 2 + cols + cols
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * per_row)),),
        special=(SpecialCount("rsqrt", compute, exact(rows)),),
        bytes=dram(2 * moved + dtype.storage_bytes(cols), 2 * moved),
    )


def _rms_norm_backward(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, cols = shape
    compute, moved = vector_compute(dtype), dtype.storage_bytes(rows * cols)
    weight = dtype.storage_bytes(cols)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * (11 * cols + 1) - cols)),),
        special=(SpecialCount("rsqrt", compute, exact(rows)),),
        bytes=dram(2 * moved + weight, moved + weight),
    )


def _layer_norm_backward(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, cols = shape
    compute, moved = vector_compute(dtype), dtype.storage_bytes(rows * cols)
    weight = dtype.storage_bytes(cols)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * (16 * cols + 1) - 2 * cols)),),
        special=(SpecialCount("rsqrt", compute, exact(rows)),),
        bytes=dram(2 * moved + weight, moved + 2 * weight),
    )


def _cross_entropy_backward(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, classes = shape
    compute, moved = vector_compute(dtype), dtype.storage_bytes(rows * classes)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * (5 * classes - 1))),),
        special=(SpecialCount("exp", compute, exact(rows * classes)),),
        bytes=dram(moved + ID_BYTES * rows, moved),
    )


ID_BYTES = 8
"""Targets are 64-bit, as torch keeps them."""

DEFINITIONS = {
    "add_rms_norm": OpDefinition(
        id="add_rms_norm",
        form="MxN",
        dimensions=("rows", "elements of a row, over which is normalised"),
        summary="s = x + r, y[i,:] = s[i,:] * rsqrt(mean(s[i,:]^2) + eps) * w; both y and s are results",
        flops="a row of N: N adds, then those of the RMS norm (4N+1) = 5N+1; vector engine",
        special="1 rsqrt a row",
        bytes="x, r and w once read, y and s once written, each in the storage type",
        count=_add_rms_norm,
        trials=SAFE,
    ),
    "rms_norm_backward": OpDefinition(
        id="rms_norm_backward",
        form="MxN",
        dimensions=("rows", "elements of a row, over which was normalised"),
        summary="dx and dw of y = x r w, r = rsqrt(mean(x^2) + eps), from dy, x, w: with h = x r and g = dy w,"
        " dx = r (g - h mean(g h)), dw = sum of dy h over rows; r is computed again",
        flops="a row: N squares, N for their mean, 1 for eps, and N each for h, g, g h, its mean, its product"
        " with h, the "
        "difference, the product with r = 9N+1; dw: MN multiplies and (M-1)N adds; all M(11N+1)-N; vector engine",
        special="1 rsqrt a row",
        bytes="dy, x and w once read, dx and dw once written, each in the storage type",
        count=_rms_norm_backward,
        trials=SAFE,
    ),
    "layer_norm_backward": OpDefinition(
        id="layer_norm_backward",
        form="MxN",
        dimensions=("rows", "elements of a row, over which was normalised"),
        summary="dx, dw, db of layer norm from dy, x, w: with h the normalised row and g = dy w,"
        " dx = r (g - mean(g) - h mean(g h)), dw = sum of dy h, db = sum of dy over rows; statistics are"
        " computed again",
        flops="a row: N each for mean, centring, squares, their mean, h, g, mean of g, g h, its mean, two"
        " differences, the"
        " product with h and the one with r, and 1 for eps = 13N+1; dw and db: MN multiplies and 2(M-1)N adds;"
        " all M(16N+1)-2N; vector engine",
        special="1 rsqrt a row",
        bytes="dy, x and w once read, dx, dw and db once written, each in the storage type",
        count=_layer_norm_backward,
        trials=SAFE,
    ),
    "cross_entropy_backward": OpDefinition(
        id="cross_entropy_backward",
        form="MxV",
        dimensions=("rows (tokens)", "classes (vocabulary)"),
        summary="d[i,:] = (softmax(x[i,:]) - onehot(t[i])) / M: the gradient of the mean loss for logits and targets",
        flops="a row of V: V-1 comparisons, V subtractions, V-1 adds, V divisions, 1 subtraction at the target,"
        " V divisions"
        " by M = 5V-1; vector engine",
        special="1 exp a logit",
        bytes="logits and 64-bit targets once read, the gradient once written",
        count=_cross_entropy_backward,
        trials=SAFE,
    ),
}
