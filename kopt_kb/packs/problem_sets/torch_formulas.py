"""FLOPs of single aten operations, from the shapes of their arguments and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import Any

import torch
from torch.utils import flop_counter

from kopt_kb.packs.problem_sets.torch_layers import LAYERS
from kopt_kb.packs.problem_sets.torch_op import OpFlops, OpFormula, each, first, storage_name, vector, vector_type
from kopt_kb.problem.dtypes import Engine

__all__ = ["attention_flops", "formula_of"]


def _power(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    exponent = args[1]
    if isinstance(exponent, int | float) and exponent in range(1, 17):  # by squaring
        whole = int(exponent)
        return vector(out, (whole.bit_length() + whole.bit_count() - 2) * out.numel())
    return vector(out, 0, pow=out.numel())


def _combine(args: Sequence[Any], out: Any) -> OpFlops:
    if len(args) > 1 and isinstance(args[1], torch.Tensor):
        return vector(out, out.numel())
    return vector(args[0], args[0].numel() - first(out).numel())


def _mean(args: Sequence[Any], _out: torch.Tensor) -> OpFlops:
    return vector(args[0], args[0].numel())


def _softmax(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    rows = out.numel() // out.shape[args[1]]
    maxima_and_sums = 2 * (out.numel() - rows)
    return vector(out, maxima_and_sums + 2 * out.numel(), exp=out.numel())


def _log_softmax(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    rows = out.numel() // out.shape[args[1]]
    return vector(out, 2 * (out.numel() - rows) + 2 * out.numel(), exp=out.numel(), log=rows)


def _layer_norm(args: Sequence[Any], _out: Any) -> OpFlops:
    x, normal, weight, bias = args[:4]
    elements = x.numel()
    rows = elements // prod(normal)
    affine = (weight is not None) + (bias is not None)
    return vector(x, 5 * elements + rows + affine * elements, rsqrt=rows)


def _rms_norm(args: Sequence[Any], _out: Any) -> OpFlops:
    x, normal, weight = args[:3]
    elements = x.numel()
    rows = elements // prod(normal)
    return vector(x, 3 * elements + rows + (elements if weight is not None else 0), rsqrt=rows)


def _nll_loss(args: Sequence[Any], _out: Any) -> OpFlops:
    """Picking is no arithmetic; the mean of M losses is M-1 adds and one multiply (reduction 1)."""
    rows = args[1].numel()
    return vector(args[0], rows if args[3] == 1 else 0)


def _contraction(left: torch.Tensor, products: int) -> OpFlops:
    return OpFlops(((*_contracted(left.dtype), 2 * products),))


def _contracted(stored: torch.dtype) -> tuple[str, Engine]:
    """Return type and engine of a product: plain fp32 on the vector engine, or rounded to tf32 where that was asked."""
    name = storage_name(stored)
    if name == "fp32":
        return ("tf32", "matrix") if _TF32.get() else ("fp32", "vector")
    return name, "matrix"


_TF32: ContextVar[bool] = ContextVar("tf32", default=False)


@contextmanager
def products_in_tf32(*, asked: bool) -> Iterator[None]:
    """Count products of fp32 operands as tf32 on the matrix engine for as long as the block runs, where asked."""
    token = _TF32.set(asked)
    try:
        yield
    finally:
        _TF32.reset(token)


def _product(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    return _contraction(args[0], out.numel() * args[0].shape[-1])


def _product_and_add(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    product = _contraction(args[1], out.numel() * args[1].shape[-1])
    return OpFlops((*product.flops, (vector_type(out), "vector", out.numel())))


def _lstm_layer(args: Sequence[Any], out: Any) -> OpFlops:
    """One direction of a recurrent layer as the CPU runs it, an LSTM.

    A step: four gates of both products, their sum and biases; three sigmoids, two tanh; c' = f c + i g, h = o tanh c'.
    """
    steps, gates, hidden = out[0], args[2].shape[0], args[2].shape[1]
    rows = steps.numel() // hidden
    products = _contraction(args[0], rows * gates * (args[1].shape[1] + hidden))
    around = gates * (3 if args[12] else 1) + (4 + 2 * 3) * hidden
    cells = vector(steps, rows * around, exp=3 * rows * hidden, tanh=2 * rows * hidden)
    return OpFlops((*products.flops, *cells.flops), cells.special)


def _gru_layers(args: Sequence[Any], out: Any) -> OpFlops:
    """All layers and directions of a GRU; a bias is told from a matrix by its rank.

    A step: three gates of both products with their biases, three sums of them; two sigmoids and a tanh;
    n is scaled by r before its sum, h' = (h - n) z + n.
    """
    data, state, weights = args[:3]
    rows = data.numel() // data.shape[-1]
    hidden = state.shape[-1]
    matrices = sum(one.numel() for one in weights if one.ndim == 2)
    biases = sum(one.numel() for one in weights if one.ndim == 1)
    cells = state.shape[0] * hidden
    products = _contraction(data, rows * matrices)
    around = vector(out[0], rows * (biases + 11 * cells), exp=2 * rows * cells, tanh=rows * cells)
    return OpFlops((*products.flops, *around.flops), around.special)


def attention_flops(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, causal: bool) -> OpFlops:
    """Return the FLOPs of scaled dot-product attention on any device; a causal mask counts its triangle alone.

    Args:
        query: ... x S x D.
        key: ... x S' x D.
        value: ... x S' x D'.
        causal: Query i sees keys 0 to i.
    """
    length, keys = query.shape[-2], key.shape[-2]
    heads = prod(query.shape[:-2])
    per_head = sum(min(row + 1, keys) for row in range(length)) if causal else length * keys
    pairs, rows = heads * per_head, heads * length
    product = _contraction(query, pairs * (query.shape[-1] + value.shape[-1]))
    scale_subtract, maxima_sums, divide = 2 * pairs, 2 * (pairs - rows), rows * value.shape[-1]
    softmax = vector(query, scale_subtract + maxima_sums + divide, exp=pairs)
    return OpFlops((*product.flops, *softmax.flops), softmax.special)


def _attention(args: Sequence[Any], _out: Any) -> OpFlops:
    """What a CPU runs where a layer asks for attention, below the function that is counted elsewhere."""
    return attention_flops(*args[:3], causal=len(args) > 4 and bool(args[4]))


_ONE = (
    "add",
    "sub",
    "rsub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "clamp",
    "clamp_min",
    "clamp_max",
    "fmod",
    "remainder",
    "lerp",
    "floor_divide",
    "atan2",
    "hypot",
)
_NONE = (
    "neg",
    "abs",
    "sign",
    "clone",
    "_to_copy",
    "copy_",
    "fill_",
    "zero_",
    "zeros",
    "ones",
    "full",
    "zeros_like",
    "ones_like",
    "full_like",
    "arange",
    "where",
    "masked_fill",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_not",
    "isinf",
    "isnan",
    "cat",
    "as_strided",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsafe_chunk",
    "stack",
    "index",
    "index_select",
    "gather",
    "embedding",
    "tril",
    "triu",
    "constant_pad_nd",
    "scalar_tensor",
    "flip",
    "roll",
    "repeat",
    "index_put",
    "index_copy",
    "index_fill",
    "scatter",
    "slice_scatter",
    "select_scatter",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "__lshift__",
    "__rshift__",
    "__and__",
    "__or__",
    "argmax",
    "argmin",
    "sort",
    "topk",
    "nonzero",
    "floor",
    "ceil",
    "round",
    "trunc",
    "isfinite",
    "any",
    "all",
    "linspace",
    "upsample_nearest2d",
    "upsample_nearest1d",
    "_local_scalar_dense",
    "eye",
    "copy",
    "new_zeros",
    "new_ones",
    "new_full",
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
)
_SPECIAL = (
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tanh",
    "erf",
    "log1p",
    "expm1",
    "sinh",
    "cosh",
    "tan",
    "asin",
    "acos",
    "atan",
)
_COMBINING = ("sum", "amax", "amin", "max", "min", "prod")


_FORMULAS: dict[str, OpFormula] = {
    **LAYERS,
    **{name: each(1) for name in _ONE},
    **dict.fromkeys(_NONE, each(0)),
    **{name: each(0, **{name: 1}) for name in _SPECIAL},
    **dict.fromkeys(_COMBINING, _combine),
    "reciprocal": each(1),
    "sigmoid": each(2, exp=1),
    "silu": each(2, exp=1),
    "relu": each(1),
    "pow": _power,
    "mean": _mean,
    "_softmax": _softmax,
    "_log_softmax": _log_softmax,
    "native_layer_norm": _layer_norm,
    "_fused_rms_norm": _rms_norm,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "mkldnn_rnn_layer": _lstm_layer,
    "gru": _gru_layers,
    "mm": _product,
    "bmm": _product,
    "addmm": _product_and_add,
    "baddbmm": _product_and_add,
    "nll_loss_forward": _nll_loss,
}


def formula_of(packet: Any) -> OpFormula | None:
    """Return the formula of an aten operation: ours, else torch's own registry, else None (not countable)."""
    name = str(packet.__name__)
    ours = _FORMULAS.get(name) or _FORMULAS.get(name.rstrip("_"))
    if ours is not None:
        return ours
    theirs = flop_counter.flop_registry.get(packet)
    if theirs is None:
        return None

    def formula(args: Sequence[Any], out: Any) -> OpFlops:
        return OpFlops(((*_contracted(args[0].dtype), theirs(*args, out_val=out)),))

    return formula
