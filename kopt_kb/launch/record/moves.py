"""Copies that no memcpy does, between layouts and between types of numbers: what the judge's own kernel is told.

`.contiguous()` of a transposed tensor and `x.to(torch.bfloat16)` are such. They belong to what a launcher does, so
they are steps of its record, done by the judge's kernel (`move.cu`) and counted in the time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from kopt_kb.launch.record.model import TensorView

__all__ = ["ENTRY", "MOST_RANK", "Move", "converts", "move_of", "moved"]

ENTRY = "kopt_move"
"""The kernel: target, source, count, four extents and five steps of each side innermost first, rank, both kinds."""

MOST_RANK = 5
"""Most extents that are left when those are joined that lie alike on both sides."""

_RAW = {1: 0, 2: 1, 4: 2, 8: 3}
_STRUCT = {4: "e", 6: "f", 7: "d", 8: "b", 9: "B", 10: "h", 11: "i", 12: "q", 13: "?"}
_BF16, _BOOL, _LAST_RAW = 5, 13, 3
_NUMBERS = {
    "fp16": 4, "bf16": 5, "fp32": 6, "fp64": 7, "i8": 8, "u8": 9, "i16": 10, "i32": 11, "i64": 12, "i1": 13,
}  # fmt: skip
"""Triton's word for an element → the kernel's number of its kind; elements of one type are moved as their bytes."""


@dataclass(frozen=True, slots=True)
class Move:
    """One move; extents and steps innermost first, steps in bytes."""

    count: int
    extents: tuple[int, ...]
    target_steps: tuple[int, ...]
    source_steps: tuple[int, ...]
    target_kind: int
    source_kind: int

    @property
    def values(self) -> tuple[int, ...]:
        """What the kernel is given behind both addresses."""
        extents = (*self.extents, *(1,) * MOST_RANK)[: MOST_RANK - 1]
        steps = [(*one, *(0,) * MOST_RANK)[:MOST_RANK] for one in (self.target_steps, self.source_steps)]
        return (self.count, *extents, *steps[0], *steps[1], len(self.extents), self.target_kind, self.source_kind)


def converts(source: str, target: str) -> bool:
    """Return whether elements of one type can become elements of another: equal ones, or numbers of both."""
    return source == target or (source in _NUMBERS and target in _NUMBERS)


def move_of(source: TensorView, target: TensorView) -> Move | None:
    """Return the move between two views of one shape; None where too many extents lie apart, or the types don't fit."""
    if not converts(source.dtype, target.dtype):
        return None
    same = source.dtype == target.dtype
    kinds = [_RAW.get(one.item_bytes) if same else _NUMBERS.get(one.dtype) for one in (target, source)]
    joined = _joined(source.shape, target.strides, source.strides)
    if kinds[0] is None or kinds[1] is None or len(joined) > MOST_RANK:
        return None
    count = 1
    for extent, _, _ in joined:
        count *= extent
    return Move(
        count,
        tuple(extent for extent, _, _ in joined),
        tuple(step * target.item_bytes for _, step, _ in joined),
        tuple(step * source.item_bytes for _, _, step in joined),
        kinds[0],
        kinds[1],
    )


def _joined(shape: Sequence[int], first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return extents with both steps, innermost of the target first; neighbours that lie alike on both are one."""
    axes = [(extent, one, two) for extent, one, two in zip(shape, first, second, strict=True) if extent != 1]
    made: list[tuple[int, int, int]] = []
    for extent, one, two in sorted(axes, key=lambda axis: (axis[1], axis[2])):
        if made and (made[-1][0] * made[-1][1], made[-1][0] * made[-1][2]) == (one, two):
            made[-1] = (made[-1][0] * extent, made[-1][1], made[-1][2])
        else:
            made.append((extent, one, two))
    return made or [(1, 0, 0)]


def moved(what: Move, read: Callable[[int, int], bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield place in the target and bytes of each element, as the kernel leaves them: its twin for memory of a host.

    Args:
        what: The move.
        read: Bytes of the source from an offset, so many.
    """
    for number in range(what.count):
        left, there, here = number, 0, 0
        for extent, to_step, from_step in zip(what.extents, what.target_steps, what.source_steps, strict=True):
            left, one = divmod(left, extent)
            there, here = there + one * to_step, here + one * from_step
        if what.source_kind <= _LAST_RAW:
            yield there, read(here, 1 << what.source_kind)
        else:
            yield there, _written(what.target_kind, _number(what.source_kind, partial(read, here)))


def _number(kind: int, read: Callable[[int], bytes]) -> float:
    if kind == _BF16:
        return float(struct.unpack("<f", b"\0\0" + read(2))[0])
    form = "<" + _STRUCT[kind]
    value: float = struct.unpack(form, read(struct.calcsize(form)))[0]
    return value


def _written(kind: int, value: float) -> bytes:
    if kind == _BF16:
        bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
        rounded = 0x7FC0 if value != value else bits + 0x7FFF + (bits >> 16 & 1) >> 16  # noqa: PLR0124 - a NaN
        return rounded.to_bytes(2, "little")
    form = "<" + _STRUCT[kind]
    if kind == _BOOL:
        return struct.pack(form, bool(value))
    if form[1] in "efd":
        try:
            return struct.pack(form, value)
        except OverflowError:
            return struct.pack(form, float("inf") if value > 0 else float("-inf"))
    size = struct.calcsize(form)
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
