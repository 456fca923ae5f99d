"""FLOPs of single aten operations, from the shapes of their arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch.utils import flop_counter

from kopt_kb.problem.dtypes import DTYPES, FORMATS, Engine

__all__ = ["OpFlops", "attention_flops", "formula_of", "storage_name"]

_NAMES = {getattr(torch, one.torch): one.dtype for one in FORMATS if one.dtype in DTYPES}


@dataclass(frozen=True, slots=True)
class OpFlops:
    """What one operation computes: FLOPs by (dtype, engine) and special functions by (name, dtype)."""

    flops: tuple[tuple[str, Engine, int], ...] = ()
    special: tuple[tuple[str, str, int], ...] = ()


Formula = Callable[[Sequence[Any], Any], OpFlops]


def storage_name(dtype: torch.dtype) -> str:
    """Return the project's name of a torch dtype; integers other than int8 are "int32"."""
    return _NAMES.get(dtype, "int32")


def _vector_type(tensor: torch.Tensor) -> str:
    if not tensor.dtype.is_floating_point:
        return "int32"
    return "fp64" if tensor.dtype == torch.float64 else "fp32"


def _vector(tensor: torch.Tensor, flops: int, **special: int) -> OpFlops:
    compute = _vector_type(tensor)
    counted: tuple[tuple[str, Engine, int], ...] = ((compute, "vector", flops),) if flops else ()
    return OpFlops(counted, tuple((function, compute, value) for function, value in special.items()))


def _first(out: Any) -> torch.Tensor:
    return out[0] if isinstance(out, tuple | list) else out


def _each(flops: int, **special: int) -> Formula:
    def formula(_args: Sequence[Any], out: Any) -> OpFlops:
        tensor = _first(out)
        return _vector(tensor, flops * tensor.numel(), **{k: v * tensor.numel() for k, v in special.items()})

    return formula


def _power(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    if args[1] == 2:
        return _vector(out, out.numel())
    return _vector(out, 0, pow=out.numel())


def _combine(args: Sequence[Any], out: Any) -> OpFlops:
    if len(args) > 1 and isinstance(args[1], torch.Tensor):
        return _vector(out, out.numel())
    return _vector(args[0], args[0].numel() - _first(out).numel())


def _mean(args: Sequence[Any], _out: torch.Tensor) -> OpFlops:
    return _vector(args[0], args[0].numel())


def _softmax(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    rows = out.numel() // out.shape[args[1]]
    maxima_and_sums = 2 * (out.numel() - rows)
    return _vector(out, maxima_and_sums + 2 * out.numel(), exp=out.numel())


def _log_softmax(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    rows = out.numel() // out.shape[args[1]]
    return _vector(out, 2 * (out.numel() - rows) + 2 * out.numel(), exp=out.numel(), log=rows)


def _layer_norm(args: Sequence[Any], _out: Any) -> OpFlops:
    x, normal, weight, bias = args[:4]
    elements = x.numel()
    rows = elements // prod(normal)
    affine = (weight is not None) + (bias is not None)
    return _vector(x, 5 * elements + rows + affine * elements, rsqrt=rows)


def _rms_norm(args: Sequence[Any], _out: Any) -> OpFlops:
    x, normal, weight = args[:3]
    elements = x.numel()
    rows = elements // prod(normal)
    return _vector(x, 3 * elements + rows + (elements if weight is not None else 0), rsqrt=rows)


def _nll_loss(args: Sequence[Any], _out: Any) -> OpFlops:
    """Picking is no arithmetic; the mean of M losses is M-1 adds and one multiply (reduction 1)."""
    rows = args[1].numel()
    return _vector(args[0], rows if args[3] == 1 else 0)


def _contraction(left: torch.Tensor, products: int) -> OpFlops:
    name = storage_name(left.dtype)
    engine: Engine = "vector" if name == "fp32" else "matrix"
    return OpFlops(((name, engine, 2 * products),))


def _product(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    return _contraction(args[0], out.numel() * args[0].shape[-1])


def _product_and_add(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    product = _contraction(args[1], out.numel() * args[1].shape[-1])
    return OpFlops((*product.flops, (_vector_type(out), "vector", out.numel())))


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
    softmax = _vector(query, scale_subtract + maxima_sums + divide, exp=pairs)
    return OpFlops((*product.flops, *softmax.flops), softmax.special)


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
    "stack",
    "index",
    "index_select",
    "gather",
    "embedding",
    "tril",
    "triu",
    "constant_pad_nd",
    "scalar_tensor",
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
)
_COMBINING = ("sum", "amax", "amin", "max", "min", "prod")

_FORMULAS: dict[str, Formula] = {
    **{name: _each(1) for name in _ONE},
    **dict.fromkeys(_NONE, _each(0)),
    **{name: _each(0, **{name: 1}) for name in _SPECIAL},
    **dict.fromkeys(_COMBINING, _combine),
    "reciprocal": _each(1),
    "sigmoid": _each(2, exp=1),
    "silu": _each(2, exp=1),
    "relu": _each(1),
    "pow": _power,
    "mean": _mean,
    "_softmax": _softmax,
    "_log_softmax": _log_softmax,
    "native_layer_norm": _layer_norm,
    "_fused_rms_norm": _rms_norm,
    "mm": _product,
    "bmm": _product,
    "addmm": _product_and_add,
    "baddbmm": _product_and_add,
    "nll_loss_forward": _nll_loss,
}


def formula_of(packet: Any) -> Formula | None:
    """Return the formula of an aten operation: ours, else torch's own registry, else None (not countable)."""
    name = str(packet.__name__)
    ours = _FORMULAS.get(name) or _FORMULAS.get(name.rstrip("_"))
    if ours is not None:
        return ours
    theirs = flop_counter.flop_registry.get(packet)
    if theirs is None:
        return None

    def formula(args: Sequence[Any], out: Any) -> OpFlops:
        name = storage_name(args[0].dtype)
        return OpFlops(((name, "vector" if name == "fp32" else "matrix", theirs(*args, out_val=out)),))

    return formula
