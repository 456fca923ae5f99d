"""Integer, bool and address arithmetic of the IR on numpy arrays, at the widths the IR gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Op
from kopt_kb.analysis.ir.triton.values import Array

__all__ = ["compare", "evaluate_elementwise", "numpy_type"]

_SIGNED: dict[int, type[np.generic]] = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
_UNSIGNED: dict[int, type[np.generic]] = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}

Binary = Callable[[Any, Any], Any]


def numpy_type(kind: IrType) -> type[np.generic] | None:
    """The numpy type of an evaluated value; None for floats and types without one."""
    if kind.of_pointers:
        return np.int64
    if kind.is_float or kind.kind not in ("scalar", "tensor"):
        return None
    return _SIGNED.get(kind.bits)


def _unsigned(array: Array) -> Array:
    return array.view(_UNSIGNED[array.dtype.itemsize * 8]) if array.dtype != np.bool_ else array


def _nonzero(divisor: Any) -> Any:
    return np.where(divisor == 0, 1, divisor).astype(divisor.dtype)


def _divide(a: Any, b: Any) -> Any:
    b = _nonzero(b)
    quotient = a // b
    # numpy floors, the IR truncates: they differ by one where the signs differ and a rest remains.
    return quotient + ((quotient < 0) & (quotient * b != a))


def _floor(a: Any, b: Any) -> Any:
    return a // _nonzero(b)


def _ceil(a: Any, b: Any) -> Any:
    b = _nonzero(b)
    return -((-a) // b)


def _remainder(a: Any, b: Any) -> Any:
    return np.fmod(a, _nonzero(b))


def _shift(function: Binary) -> Binary:
    def shift(a: Any, b: Any) -> Any:
        return function(a, np.clip(b, 0, a.dtype.itemsize * 8 - 1).astype(a.dtype))

    return shift


def _high_half(a: Any, b: Any) -> Any:
    product = _unsigned(a).astype(np.uint64) * _unsigned(b).astype(np.uint64)
    return (product >> np.uint64(32)).astype(np.uint32)


_BINARY: dict[str, Binary] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.divsi": _divide,
    "arith.floordivsi": _floor,
    "arith.ceildivsi": _ceil,
    "arith.remsi": _remainder,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
    "arith.shli": _shift(np.left_shift),
    "arith.shrsi": _shift(np.right_shift),
}
_UNSIGNED_BINARY: dict[str, Binary] = {
    "arith.divui": _floor,
    "arith.remui": _remainder,
    "arith.minui": np.minimum,
    "arith.maxui": np.maximum,
    "arith.shrui": _shift(np.right_shift),
}
_COMPARE: dict[str, Binary] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}
_SAME = ("tt.ptr_to_int", "tt.int_to_ptr", "arith.index_cast", "tt.bitcast", "arith.bitcast")


def evaluate_elementwise(op: Op, operand_types: list[IrType], result: IrType, values: list[Array]) -> Array | None:
    """The result of an elementwise operation, or None when this module does not know the operation.

    Widths wrap as they do on the device; division by zero, undefined in the IR, divides by one.
    """
    width = numpy_type(result)
    if width is None:
        return None
    if op.name in _BINARY:
        return _keep(_BINARY[op.name](values[0], values[1]), width)
    if op.name in _UNSIGNED_BINARY:
        return _as_width(_UNSIGNED_BINARY[op.name](_unsigned(values[0]), _unsigned(values[1])), width)
    if op.name == "arith.cmpi":
        return compare(op.detail["predicate"], values[0], values[1])
    if op.name == "tt.addptr":
        steps = values[1].astype(np.int64) * operand_types[0].itemsize_bytes
        return _as_width(np.add(values[0], steps), np.int64)
    return _convert(op, operand_types, width, values)


def _convert(op: Op, operand_types: list[IrType], width: type[np.generic], values: list[Array]) -> Array | None:
    source = operand_types[0]
    if op.name == "arith.extui":
        return _as_width(_unsigned(values[0]), width)
    if op.name == "arith.extsi":
        # A true i1 is all ones, so it widens to -1.
        return _as_width(_as_width(values[0], width) * (-1 if source.bits == 1 else 1), width)
    if op.name == "arith.trunci":
        return _as_width(np.bitwise_and(values[0], 1) if width is np.bool_ else values[0], width)
    if op.name in _SAME and numpy_type(source) is not None:
        return _keep(values[0], width)
    if op.name == "math.absi":
        return _keep(np.abs(values[0]), width)
    if op.name == "tt.mulhiui" and source.bits == 32:
        return _as_width(_high_half(values[0], values[1]), width)
    return None


def compare(predicate: str, one: Any, two: Any) -> Array:
    """The bools of a comparison by its IR name, such as `slt` or `uge`."""
    if predicate.startswith("u"):
        one, two, predicate = _unsigned(one), _unsigned(two), f"s{predicate[1:]}"
    return np.asarray(_COMPARE[predicate](one, two))


def _keep(array: Any, width: type[np.generic]) -> Array:
    result: Array = np.asarray(array).astype(width, copy=False)
    return result


def _as_width(array: Any, width: type[np.generic]) -> Array:
    result: Array = np.asarray(array).astype(width)
    return result
