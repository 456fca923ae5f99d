"""Reductions and scans of evaluated integers, for combine functions that numpy has."""

from __future__ import annotations

import numpy as np

from kopt_kb.analysis.ir.triton.costs import combine_ops
from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Module, Op
from kopt_kb.analysis.ir.triton.structure import full
from kopt_kb.analysis.ir.triton.values import Array

__all__ = ["fold_reduce", "fold_scan"]

_UFUNCS: dict[str, np.ufunc] = {
    "arith.addi": np.add,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
}


def _ufunc(op: Op, module: Module) -> np.ufunc | None:
    body = combine_ops(op, module)
    return _UFUNCS.get(body[0].name) if len(body) == 1 else None


def fold_reduce(op: Op, module: Module, source: IrType, value: Array) -> list[Array] | None:
    """The reduced array, or None for a combine function that is more than one known operation."""
    ufunc = _ufunc(op, module)
    if ufunc is None:
        return None
    return [ufunc.reduce(full(value, source.shape), axis=op.integer("axis") + 1, dtype=value.dtype)]


def fold_scan(op: Op, module: Module, source: IrType, value: Array) -> list[Array] | None:
    """The running results, or None as for `fold_reduce`."""
    ufunc = _ufunc(op, module)
    if ufunc is None:
        return None
    axis, whole = op.integer("axis") + 1, full(value, source.shape)
    if "true" in op.attributes.get("reverse", "false"):
        return [np.flip(ufunc.accumulate(np.flip(whole, axis), axis=axis, dtype=value.dtype), axis)]
    return [ufunc.accumulate(whole, axis=axis, dtype=value.dtype)]
