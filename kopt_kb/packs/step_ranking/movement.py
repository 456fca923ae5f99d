"""Work of everything that is bound by its bytes: elementwise work, norms, reductions, copies, gathers, optimizers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

from kopt_kb.packs.step_ranking.operands import Operand, Shaped, lower, moved
from kopt_kb.problem.work import Work

__all__ = ["COPIES", "ELEMENTWISE", "NORMS", "elementwise", "generated", "is_elementwise", "is_reduction", "reduced"]

_ELEMENTWISE = re.compile(r"elementwise_kernel|multi_tensor_apply_kernel|fused_dropout_kernel")
_REDUCTION = re.compile(r"reduce_kernel")
_SIZE = re.compile(r"[1-9][0-9]{0,14}")
_TORCH = "aten::"
_BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "fmod", "remainder", "atan2")
_TERNARY = ("where", "addcmul", "addcdiv", "lerp")
_UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "silu", "gelu", "relu", "cos", "sin", "abs")
_COMPARED = (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "isnan",
    "isinf",
    "isfinite",
    "logical_and",
    "logical_or",
    "logical_not",
)
_TRUTH = frozenset(_TORCH + one for one in _COMPARED)
_READ = {
    _TORCH + name: count for count, names in ((1, _UNARY), (2, (*_BINARY, *_COMPARED)), (3, _TERNARY)) for name in names
}
"""How many of an operator's arguments are read; further tensors are results that it was given. Others read all."""
_FILLS = ("aten::fill_", "aten::zero_")
_FLOATS = ("fp64", "fp32", "bf16", "fp16")


def is_elementwise(shaped: Shaped) -> bool:
    """Return whether the kernels are those that torch makes of elementwise work."""
    return shaped.name.startswith(_TORCH) and shaped.runs(_ELEMENTWISE)


def is_reduction(shaped: Shaped) -> bool:
    """Return whether the kernels are those that torch makes of reductions."""
    return shaped.name.startswith(_TORCH) and shaped.runs(_REDUCTION)


def elementwise(shaped: Shaped) -> Work | None:
    """Return inputs read once and a result of their common extents written once."""
    if shaped.lists:
        read = [one for each in shaped.lists for one in each]
        written = shaped.lists[:1] if shaped.name.endswith("_") else shaped.lists[-1:]
        return moved(read, [one for each in written for one in each])
    inputs = [one for one in shaped.operands[: _READ.get(shaped.name, len(shaped.operands))] if one is not None]
    if shaped.name in _FILLS:
        return moved(0, shaped.tensors[:1]) if shaped.tensors else None
    if not any(one.dims for one in inputs):
        return None
    if shaped.name.endswith("_") and shaped.tensors:
        return moved(inputs, shaped.tensors[:1])
    extents = _together([one.dims for one in inputs])
    width = 1 if shaped.name in _TRUTH else _wide([one for one in inputs if one.dims]).width
    return None if extents is None else moved(inputs, prod(extents) * width)


def _together(extents: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the extents that all are broadcast to, None where they do not fit."""
    axes = max(map(len, extents))
    padded = [(1,) * (axes - len(one)) + one for one in extents]
    found = tuple(next((each for each in column if each != 1), 1) for column in zip(*padded, strict=True))
    fits = all(one in (1, whole) for each in padded for one, whole in zip(each, found, strict=True))
    return found if fits else None


def _wide(inputs: list[Operand]) -> Operand:
    """Return the input whose type the result has: the widest floating one, else the widest."""
    floats = [one for one in inputs if one.dtype in _FLOATS]
    return max(floats or inputs, key=lambda one: one.width)


def _like(place: int, *inputs: int) -> Callable[[Shaped], Work | None]:
    """Return the rule of an operator that reads the places named (or all) and writes what is like one of them."""

    def count(shaped: Shaped) -> Work | None:
        result = shaped.at(place)
        read = [shaped.at(one) for one in inputs] if inputs else list(shaped.operands)
        return None if result is None or not result.dims else moved(read, result.bytes)

    return count


def _given(read: tuple[int, ...], written: tuple[int, ...]) -> Callable[[Shaped], Work | None]:
    """Return the rule of an operator that is given its results as arguments."""

    def count(shaped: Shaped) -> Work | None:
        results = [shaped.at(one) for one in written]
        return moved([shaped.at(one) for one in read], results) if all(results) else None

    return count


def _embedding(shaped: Shaped) -> Work | None:
    table, places = shaped.at(0), shaped.at(1)
    if table is None or places is None or len(table.dims) != 2:
        return None
    rows = places.elements * table.dims[1] * table.width
    return moved(places.stored + min(rows, table.bytes), rows)


def _gather(shaped: Shaped) -> Work | None:
    table, places = shaped.at(0), shaped.at(2)
    if table is None or places is None:
        return None
    axis = shaped.numbers(1)
    if shaped.name == "aten::index_select":
        if not axis or not table.dims or not table.dims[axis[0] % len(table.dims)]:
            return None
        taken = table.elements // table.dims[axis[0] % len(table.dims)] * places.elements * table.width
    else:
        taken = places.elements * table.width
    return moved(places.stored + min(taken, table.bytes), taken)


def _joined(shaped: Shaped) -> Work | None:
    """Return all parts read and the whole written."""
    parts = [one for each in shaped.lists for one in each]
    return moved(parts, sum(one.bytes for one in parts)) if parts else None


def _embedding_backward(shaped: Shaped) -> Work | None:
    gradient, rows = shaped.at(0), shaped.numbers(2)
    if gradient is None or not gradient.dims or not rows:
        return None
    return moved(shaped.tensors[:2], rows[0] * gradient.dims[-1] * gradient.width)


def _adam(shaped: Shaped) -> Work | None:
    """Return parameters, gradients and two moments read, all but gradients written."""
    if len(shaped.lists) < 4:
        return None
    parameters, gradients, first, second = shaped.lists[:4]
    return moved([*parameters, *gradients, *first, *second], [*parameters, *first, *second])


def reduced(shaped: Shaped) -> Work | None:
    """Return what is read of the first tensor as a lower bound: the extents of the result are not in the trace."""
    return lower(moved(shaped.tensors[:1], 0)) if shaped.tensors else None


def generated(shaped: Shaped) -> Work | None:
    """Return the tensors of a kernel that Inductor generated, each once, no more of one than the kernel has places.

    A tensor that is read and written counts once, so this is a lower bound.
    """
    sizes = [int(one) for one in shaped.call.concrete if isinstance(one, str) and _SIZE.fullmatch(one)]
    room = prod(sizes) if sizes else None
    if not shaped.tensors:
        return None
    total = sum(one.stored if room is None else min(one.stored, room * one.width) for one in shaped.tensors)
    return lower(moved(total, 0))


_LIKE_FIRST = _like(0)
NORMS: Mapping[str, Callable[[Shaped], Work | None]] = {
    **dict.fromkeys(
        (
            "aten::_softmax", "aten::_log_softmax", "aten::native_layer_norm", "aten::native_group_norm",
            "aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm",
            "aten::_fused_rms_norm", "aten::rms_norm", "aiter::_groupnorm_run", "aten::_softmax_backward_data",
            "aten::_log_softmax_backward_data", "aten::_masked_softmax", "aten::_safe_softmax", "aten::cumsum",
        ),
        _LIKE_FIRST,
    ),
    "aten::native_layer_norm_backward": _like(1),
    "aten::native_group_norm_backward": _like(1),
    "aten::native_batch_norm_backward": _like(1),
    "aten::cudnn_batch_norm_backward": _like(0),
    "aten::miopen_batch_norm_backward": _like(0),
    "aten::nll_loss_forward": reduced,
    "_C::rms_norm": _given((1, 2), (0,)),
    "aiter::rmsnorm": _given((1, 2), (0,)),
    "aiter::add_rmsnorm": _given((1, 2, 4), (0, 3)),
    "sgl_kernel::rmsnorm": _given((1, 2), (0,)),
    "_C::fused_add_rms_norm": _given((0, 1, 2), (0, 1)),
    "sgl_kernel::fused_add_rmsnorm": _given((0, 1, 2), (0, 1)),
}  # fmt: skip
"""Norms, softmax and what else goes over rows."""

ELEMENTWISE: Mapping[str, Callable[[Shaped], Work | None]] = {
    **dict.fromkeys(
        (f"{one}::{act}_and_mul" for one in ("_C", "sgl_kernel", "aiter") for act in ("silu", "gelu", "gelu_tanh")),
        _given((1,), (0,)),
    ),
    "_C::rotary_embedding": _given((0, 1, 2), (1, 2)),
    "sgl_kernel::rotary_embedding": _given((0, 1, 2), (1, 2)),
    "aten::_fused_adam_": _adam,
    "aten::_fused_adamw_": _adam,
    "aten::max_pool2d_with_indices": reduced,
    "aten::_adaptive_avg_pool2d": reduced,
    "aten::adaptive_avg_pool2d": reduced,
    "aten::avg_pool2d": reduced,
    "aten::max_pool2d_with_indices_backward": _like(1, 0),
}

COPIES: Mapping[str, Callable[[Shaped], Work | None]] = {
    "aten::copy_": _given((1,), (0,)),
    "aten::cat": _joined,
    "aten::_foreach_copy_": elementwise,
    "aten::embedding": _embedding,
    "aten::gather": _gather,
    "aten::index_select": _gather,
    "aten::embedding_dense_backward": _embedding_backward,
    "sglang::store_cache": _given((0, 1), (0, 1)),
}
