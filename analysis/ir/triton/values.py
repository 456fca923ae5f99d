"""Run-time values of the evaluator: arrays over programs, block views of tensors, and values left unevaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kopt_kb.analysis.ir.triton.irtypes import IrType

__all__ = ["Array", "BlockView", "Bools", "Node", "Shifted", "Value", "expand", "lanes", "merge_arrays", "shape_of"]

Array = NDArray[Any]
"""Evaluated integers, bools or addresses: axis 0 is the program (length 1: the same in all), then the tensor's
dimensions, of length 1 where the value does not vary along them."""
Bools = NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Node:
    """A value that is not evaluated: floats, and whatever depends on memory contents.

    Attributes:
        shape: The tensor's dimensions, empty for a scalar.
        pad: Lanes that hold `fill` because a mask or select put it there; None when there are none.
        fill: The padding value; None when it is undefined (a masked load without `other`).
        const: The value of every lane when that is a constant.
        may: For bools, the lanes that can be true; None when all can.
        demand: Lanes that some counted result needs; set by the backward pass.
        leaf: True when nothing upstream counts, so that demand need not reach it.
    """

    shape: tuple[int, ...] = ()
    pad: Bools | None = None
    fill: float | None = None
    const: float | None = None
    may: Bools | None = None
    demand: Bools | None = None
    leaf: bool = False

    def require(self, demand: Bools) -> None:
        """Note that a result needs these lanes."""
        if self.leaf or self.const is not None or self.demand is demand:
            return
        self.demand = demand if self.demand is None else self.demand | demand


@dataclass(frozen=True, slots=True)
class BlockView:
    """A tensor descriptor or block pointer: base address, extents, strides and offsets, one array each."""

    base: Array
    extents: tuple[Array, ...]
    strides: tuple[Array, ...]
    offsets: tuple[Array, ...]
    block: tuple[int, ...]
    itemsize_bytes: int

    def moved(self, steps: Sequence[Array]) -> BlockView:
        """The view shifted by one step a dimension."""
        offsets = tuple(np.add(a, b) for a, b in zip(self.offsets, steps, strict=True))
        return BlockView(self.base, self.extents, self.strides, offsets, self.block, self.itemsize_bytes)

    def merged(self, choose: Bools, other: BlockView) -> BlockView:
        """This view in programs where `choose` holds, the other one elsewhere."""
        pick = [
            tuple(np.where(choose, a, b) for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in (
                (self.extents, other.extents),
                (self.strides, other.strides),
                (self.offsets, other.offsets),
            )
        ]
        base = np.where(choose, self.base, other.base)
        return BlockView(base, pick[0], pick[1], pick[2], self.block, self.itemsize_bytes)


@dataclass(frozen=True, slots=True, eq=False)
class Shifted:
    """An integer tensor that is alike in all programs but for a shift: `base[program] + pattern[lane]`, in 64 bits.

    Attributes:
        base: One number a program (length 1: the same in all).
        pattern: Axis 0 of length 1, then the tensor's dimensions, of length 1 where nothing varies along them.
    """

    base: Array
    pattern: Array

    @property
    def size(self) -> int:
        """Elements of the value lane by lane."""
        return int(self.base.size * self.pattern.size)

    def dense(self, width: Any = np.int64) -> Array:
        """The value lane by lane, at a width that holds it."""
        return np.asarray(expand(self.base, self.pattern.ndim - 1) + self.pattern).astype(width)

    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest element."""
        return int(self.base.min()) + int(self.pattern.min()), int(self.base.max()) + int(self.pattern.max())


Value = Array | BlockView | Node | Shifted


def shape_of(kind: IrType) -> tuple[int, ...]:
    """The dimensions a value of this type has at run time."""
    return kind.shape if kind.kind == "tensor" else ()


def expand(per_program: Array, rank: int) -> Array:
    """A per-program array with `rank` unit axes appended."""
    return per_program.reshape(per_program.shape + (1,) * rank)


def compact(mask: Bools) -> Bools:
    """The same mask with a unit axis wherever nothing differs along one: what is made of it later is as small."""
    for axis in range(1, mask.ndim):
        first = mask[(slice(None),) * axis + (slice(0, 1),)]
        if mask.shape[axis] > 1 and bool((mask == first).all()):
            mask = first
    return mask


def lanes(mask: Bools, programs: int, shape: tuple[int, ...]) -> int:
    """True lanes of a mask, unit axes counted at their full length."""
    return int(np.count_nonzero(mask)) * (programs * prod(shape)) // max(mask.size, 1)


def merge_arrays(choose: Bools, one: Array, two: Array) -> Array:
    """`one` in programs where `choose` holds, `two` elsewhere."""
    if one is two or bool(choose.all()):
        return one
    rank = max(one.ndim, two.ndim) - 1
    return np.where(expand(choose, rank), one, two)
