"""Values that are alike in all programs but for a shift, and programs told apart where they are not alike.

Triton's addresses and masks are a number of the program plus something of the lane: `pid * BLOCK + arange(BLOCK)`. Kept
as the two, a launch of any size costs what its lanes cost once. What a mask says then depends on one number a program;
programs that agree on it are counted together, and a batch in which they do not is told apart and run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kopt_kb.analysis.ir.triton.integers import compare, numpy_type
from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Op
from kopt_kb.analysis.ir.triton.structure import forward
from kopt_kb.analysis.ir.triton.values import Array, Bools, Shifted, expand

__all__ = ["MOST_GROUPS", "ApartError", "TooDenseError", "agreed", "evaluate_shifted", "merged", "parts"]

MOST_GROUPS = 64
"""Groups into which one disagreement may split a batch; with more, lanes are followed one by one."""

_SAME_LANES = ("tt.expand_dims", "tt.broadcast", "tt.reshape", "tt.trans")
_CASTS = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "tt.bitcast", "arith.bitcast")
_LOGIC = {"arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor}
_ADDRESSES = ("tt.ptr_to_int", "tt.int_to_ptr")

ShiftedResult = Array | Shifted


class ApartError(Exception):
    """Programs of a batch differ in what a mask, a clamp or a branch makes of them; `labels` groups them."""

    def __init__(self, labels: NDArray[np.int64]) -> None:
        super().__init__("programs differ")
        self.labels = labels


class TooDenseError(Exception):
    """A value would be needed lane by lane, for too many programs at once."""


def agreed(numbers: Array, low: int, high: int) -> int:
    """The one number of all programs; what lies beyond `low` or `high` counts as these.

    Raises:
        ApartError: They differ, in few groups.
        TooDenseError: They differ, in many.
    """
    clipped = np.clip(numbers.reshape(-1), low, high)
    if bool((clipped == clipped[0]).all()):
        return int(clipped[0])
    found, labels = np.unique(clipped, return_inverse=True)
    if len(found) > MOST_GROUPS:
        raise TooDenseError
    raise ApartError(labels.reshape(-1).astype(np.int64))


def parts(value: ShiftedResult) -> Shifted | None:
    """An integer value as base and pattern; None for an array whose lanes differ between programs, and for bools."""
    if isinstance(value, Shifted):
        return value
    if value.dtype == np.bool_:
        return None
    whole = value.astype(np.int64)
    if value.size == value.shape[0]:
        return Shifted(whole.reshape(-1), np.zeros((1,) * value.ndim, np.int64))
    return Shifted(np.zeros(1, np.int64), whole) if value.shape[0] == 1 else None


def _whole(value: Shifted, width: Any) -> ShiftedResult | None:
    """A result in its simplest form: an array where programs or lanes agree; None when it leaves its width."""
    info = np.iinfo(width)
    low, high = value.bounds()
    if low < info.min or high > info.max:
        return None
    return value.dense(width) if value.pattern.size == 1 or value.base.size == 1 else value


def evaluate_shifted(
    op: Op, kinds: Sequence[IrType], result: IrType, values: Sequence[ShiftedResult]
) -> ShiftedResult | None:
    """The result of an integer operation on values that are alike but for a shift; None where it has no such form.

    Raises:
        ApartError: Programs have to be told apart.
        TooDenseError: Into too many groups.
    """
    width = numpy_type(result)
    if width is None or not _worth_it(values):
        return None
    if op.name == "arith.select":
        return _selected(values, width)
    if width is np.bool_ and op.name in _LOGIC:
        return _logic(_LOGIC[op.name], values)
    found = [parts(value) for value in values]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    if op.name in _SAME_LANES:
        (moved,) = forward(op, list(kinds), result, [known[0].pattern])
        return _whole(Shifted(known[0].base, moved), width)
    if op.name == "arith.cmpi":
        return _compared(op.detail["predicate"], known[0], known[1])
    made = _computed(op, kinds, known)
    return None if made is None else _whole(made, width)


def _worth_it(values: Sequence[ShiftedResult]) -> bool:
    """Whether lanes would be repeated for each program."""
    if any(isinstance(value, Shifted) for value in values):
        return True
    arrays = [value for value in values if not isinstance(value, Shifted)]
    return any(a.shape[0] > 1 for a in arrays) and any(a.size > a.shape[0] for a in arrays)


def _computed(op: Op, kinds: Sequence[IrType], values: Sequence[Shifted]) -> Shifted | None:
    one = values[0]
    if op.name in _CASTS:
        return one if op.name != "arith.extui" or one.bounds()[0] >= 0 else None
    if op.name in _ADDRESSES:
        return one
    if len(values) != 2:
        return None
    two = values[1]
    if op.name == "tt.addptr":
        step = kinds[0].itemsize_bytes
        return Shifted(one.base + step * two.base, one.pattern + step * two.pattern)
    handler = _BINARY.get(op.name)
    return None if handler is None else handler(one, two)


# ---- arithmetic ----------------------------------------------------------------------------------


def _one(value: Shifted) -> int | None:
    """The number that all lanes of all programs hold; None when they differ."""
    if value.pattern.size != 1 or bool((value.base != value.base[0]).any()):
        return None
    return int(value.base[0]) + int(value.pattern.reshape(-1)[0])


def _times(one: Shifted, two: Shifted) -> Shifted | None:
    for value, other in ((one, two), (two, one)):
        factor = _one(other)
        if factor is not None:
            return Shifted(value.base * factor, value.pattern * factor)
    return None


def _divided(value: Shifted, divisor: int | None, *, rest: bool) -> Shifted | None:
    """Quotient or rest of what is nowhere negative, by a number that all share; else None."""
    if divisor is None or divisor <= 0 or value.bounds()[0] < 0:
        return None
    quotient, left = np.divmod(value.base, divisor)
    low, high = int(value.pattern.min()), int(value.pattern.max())
    if bool(((left + low >= 0) & (left + high < divisor)).all()):
        flat = np.zeros((1,) * value.pattern.ndim, np.int64)
        return Shifted(left, value.pattern) if rest else Shifted(quotient, flat)
    lanes = value.pattern + agreed(left, -1, divisor)
    return Shifted(np.zeros(1, np.int64), lanes % divisor) if rest else Shifted(quotient, lanes // divisor)


def _shifted_left(one: Shifted, two: Shifted) -> Shifted | None:
    bits = _one(two)
    return Shifted(one.base << bits, one.pattern << bits) if bits is not None and 0 <= bits < 32 else None


def _shifted_right(one: Shifted, two: Shifted) -> Shifted | None:
    bits = _one(two)
    return _divided(one, 1 << bits, rest=False) if bits is not None and 0 <= bits < 32 else None


def _clamped(choose: Callable[[Any, Any], Any]) -> Callable[[Shifted, Shifted], Shifted]:
    def clamp(one: Shifted, two: Shifted) -> Shifted:
        apart, shift = one.pattern - two.pattern, two.base - one.base
        low, high = int(apart.min()), int(apart.max())
        if low == high:
            return Shifted(choose(one.base + low, two.base), two.pattern)
        for all_so, first in (
            ((shift >= high).all(), choose is np.minimum),
            ((shift <= low).all(), choose is np.maximum),
        ):
            if bool(all_so):
                return one if first else two
        return Shifted(one.base, choose(one.pattern, two.pattern + agreed(shift, low, high)))

    return clamp


_BINARY: dict[str, Callable[[Shifted, Shifted], Shifted | None]] = {
    "arith.addi": lambda one, two: Shifted(one.base + two.base, one.pattern + two.pattern),
    "arith.subi": lambda one, two: Shifted(one.base - two.base, one.pattern - two.pattern),
    "arith.muli": _times,
    "arith.divsi": lambda one, two: _divided(one, _one(two), rest=False),
    "arith.divui": lambda one, two: _divided(one, _one(two), rest=False),
    "arith.floordivsi": lambda one, two: _divided(one, _one(two), rest=False),
    "arith.remsi": lambda one, two: _divided(one, _one(two), rest=True),
    "arith.remui": lambda one, two: _divided(one, _one(two), rest=True),
    "arith.shli": _shifted_left,
    "arith.shrsi": _shifted_right,
    "arith.minsi": _clamped(np.minimum),
    "arith.maxsi": _clamped(np.maximum),
}


# ---- what tells programs apart -------------------------------------------------------------------


def _compared(predicate: str, one: Shifted, two: Shifted) -> Array | None:
    if predicate.startswith("u"):
        if min(one.bounds()[0], two.bounds()[0]) < 0:
            return None
        predicate = f"s{predicate[1:]}"
    lanes, shift = one.pattern - two.pattern, two.base - one.base
    if lanes.size == 1:
        return compare(
            predicate, expand(one.base + int(lanes.reshape(-1)[0]), lanes.ndim - 1), expand(two.base, lanes.ndim - 1)
        )
    return compare(predicate, lanes, np.int64(agreed(shift, int(lanes.min()) - 1, int(lanes.max()) + 1)))


def _logic(combine: np.ufunc, values: Sequence[ShiftedResult]) -> Array | None:
    """Bools of programs with bools of lanes: programs that differ in theirs are told apart."""
    known = []
    for value in values:
        if isinstance(value, Shifted):
            return None
        if value.size == value.shape[0]:
            agreed(value.astype(np.int64), 0, 1)
            known.append(value[:1])
        elif value.shape[0] == 1:
            known.append(value)
        else:
            return None
    return np.asarray(combine(*known))


def _selected(values: Sequence[ShiftedResult], width: Any) -> ShiftedResult | None:
    condition, one, two = values[0], parts(values[1]), parts(values[2])
    if isinstance(condition, Shifted) or one is None or two is None:
        return None
    if bool(condition.all() or not condition.any()):
        return _whole(one if bool(condition.all()) else two, width)
    if condition.size == condition.shape[0]:
        found = merged(condition.reshape(-1), one, two)
        return _whole(found, width)
    if condition.shape[0] != 1:
        return None
    shift = agreed(two.base - one.base, -(2**62), 2**62)
    return _whole(Shifted(one.base, np.where(condition, one.pattern, two.pattern + shift)), width)


def merged(choose: Bools, one: Shifted, two: Shifted) -> Shifted:
    """`one` in programs where `choose` holds, `two` elsewhere.

    Raises:
        ApartError: Their lanes differ by more than a shift, so that the two kinds of programs are told apart.
    """
    apart = one.pattern - two.pattern
    low = int(apart.min())
    if low == int(apart.max()):
        return Shifted(np.where(choose, one.base + low, two.base), two.pattern)
    if choose.size == 1 or bool((choose == choose[0]).all()):
        return one if bool(choose[0]) else two
    raise ApartError(choose.astype(np.int64))
