"""Operations that only move lanes: how values and padding go forward through them, and demand back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Op
from kopt_kb.analysis.ir.triton.values import Array, Bools

__all__ = ["MOVES", "backward", "forward", "full"]

MOVES = (
    "tt.splat", "tt.expand_dims", "tt.broadcast", "tt.reshape", "tt.trans", "tt.join", "tt.split", "tt.cat",
    "tt.unsplat",
)  # fmt: skip


def full(array: Any, shape: tuple[int, ...]) -> Any:
    """The array with every unit axis of the tensor dimensions stretched to its length."""
    return np.broadcast_to(array, (array.shape[0], *shape))


def _order(op: Op) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", op.attributes["order"].partition(":")[2])]


def forward(op: Op, sources: list[IrType], result: IrType, values: list[Array]) -> list[Array]:
    """The results of a moving operation on arrays of (programs, *dimensions)."""
    first, source = values[0], sources[0]
    rank = len(result.shape)
    if op.name == "tt.splat":
        return [first.reshape(first.shape[0], *(1,) * rank)]
    if op.name == "tt.expand_dims":
        return [np.expand_dims(first, op.integer("axis") + 1)]
    if op.name == "tt.broadcast":
        return [first]
    if op.name in ("tt.reshape", "tt.unsplat"):
        if first.size == first.shape[0]:
            return [first.reshape(first.shape[0], *(1,) * rank)]
        return [full(first, source.shape).reshape(first.shape[0], *result.shape)]
    if op.name == "tt.trans":
        return [first.transpose(0, *(axis + 1 for axis in _order(op)))]
    if op.name == "tt.split":
        whole = full(first, source.shape)
        return [whole[..., 0], whole[..., 1]]
    programs = max(value.shape[0] for value in values)
    parts = [np.broadcast_to(v, (programs, *kind.shape)) for v, kind in zip(values, sources, strict=True)]
    return [np.stack(parts, -1) if op.name == "tt.join" else np.concatenate(parts, 1)]


def _any_where_unit(demand: Bools, source: tuple[int, ...]) -> Bools:
    axes = tuple(i + 1 for i, n in enumerate(source) if n == 1 and demand.shape[i + 1] > 1)
    return np.asarray(demand.any(axis=axes, keepdims=True)) if axes else demand


def backward(op: Op, sources: list[IrType], result: IrType, demands: list[Bools | None]) -> list[Bools]:
    """Which lanes of each operand the demanded lanes of the results come from."""
    source = sources[0]
    if op.name == "tt.split":
        programs = max(d.shape[0] for d in demands if d is not None)
        blank = np.zeros((programs, *result.shape), np.bool_)
        return [np.stack([blank if d is None else np.broadcast_to(d, blank.shape) for d in demands], -1)]
    demand = demands[0] if demands[0] is not None else np.zeros((1,) * (1 + len(result.shape)), np.bool_)
    if op.name == "tt.splat":
        return [np.asarray(demand.any(axis=tuple(range(1, demand.ndim))))]
    if op.name == "tt.expand_dims":
        return [demand.squeeze(op.integer("axis") + 1)]
    if op.name == "tt.broadcast":
        return [_any_where_unit(demand, source.shape)]
    if op.name in ("tt.reshape", "tt.unsplat"):
        return [full(demand, result.shape).reshape(demand.shape[0], *source.shape)]
    if op.name == "tt.trans":
        return [demand.transpose(0, *(int(axis) + 1 for axis in np.argsort(_order(op))))]
    whole = full(demand, result.shape)
    if op.name == "tt.join":
        return [whole[..., 0], whole[..., 1]]
    return [whole[:, : source.shape[0]], whole[:, source.shape[0] :]]
