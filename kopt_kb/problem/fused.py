"""Work of several operations in one kernel: what they hand to each other on the chip never crosses device memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.counts import ByteCount, Count, TrafficDirection
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.shapes import Shape, check_shape, format_shape, parse_shape
from kopt_kb.problem.work import Work

__all__ = ["OnChip", "fused"]


@dataclass(frozen=True, slots=True)
class OnChip:
    """A tensor that stays on the chip between the parts of a fused kernel.

    Attributes:
        shape: Its sizes, or text such as "8192x4096".
        dtype: Its storage type.
        made_by: Place of the part that writes it, from 0; None for an input, which is read from memory once.
        read_by: Places of the parts that read it.
        stored: Whether it is a result too and so is written to memory once.
    """

    shape: Sequence[int] | str
    dtype: str
    made_by: int | None
    read_by: tuple[int, ...]
    stored: bool = False

    @property
    def bytes(self) -> int:
        """Bytes of the whole tensor."""
        return dtype_of(self.dtype).storage_bytes(prod(self.sizes))

    @property
    def sizes(self) -> Shape:
        """Its sizes as numbers; raises `BadInput` when they are none."""
        return parse_shape(self.shape, "Nx...") if isinstance(self.shape, str) else check_shape(self.shape, "Nx...")

    def __str__(self) -> str:
        return f"{self.shape if isinstance(self.shape, str) else format_shape(self.shape)} {self.dtype}"


def fused(parts: Sequence[Work], on_chip: Sequence[OnChip]) -> Work:
    """Return the work of several operations in one kernel.

    Operations add up. Of the bytes of device memory, those of a tensor on the chip are left out where its part writes
    it and where others read it.

    Args:
        parts: The operations, in order.
        on_chip: What stays on the chip between them.

    Raises:
        BadInput: A place that there is no part for, a tensor that is read before it is written, or one that is larger
            than what its part counts as read or written.
    """
    if len(parts) < 2 or not on_chip:
        raise BadInput(
            "a fused kernel has two parts or more and a tensor between them",
            fix="one operation is work(...)",
            code="KB093",
        )
    left = list(parts)
    for tensor in on_chip:
        _check(tensor, len(parts))
        if tensor.made_by is not None and not tensor.stored:
            left[tensor.made_by] = _without(left[tensor.made_by], tensor, "write")
        for at in tensor.read_by[tensor.made_by is None :]:
            left[at] = _without(left[at], tensor, "read")
    texts = tuple((f"part {at}", _said(one)) for at, one in enumerate(parts))
    kept = ("on chip", "; ".join(map(str, on_chip)))
    return replace(Work.total(left), op="fused", shape=(), definitions=(*texts, kept))


def _said(part: Work) -> str:
    return " ".join(filter(None, (part.op, format_shape(part.shape), part.dtype)))


def _check(tensor: OnChip, parts: int) -> None:
    """Refuse a tensor that no order of the parts could keep."""
    first = -1 if tensor.made_by is None else tensor.made_by
    places = (*tensor.read_by, *([] if tensor.made_by is None else [first]))
    readers = 1 + (tensor.made_by is None)
    if any(not 0 <= at < parts for at in places):
        raise BadInput(f"{tensor}: {parts} parts are numbered 0 to {parts - 1}", where="on_chip", code="KB093")
    if len(set(tensor.read_by)) < readers or len(set(tensor.read_by)) < len(tensor.read_by):
        fix = "name each reader once; an input stays on the chip between two readers or more"
        raise BadInput(f"{tensor} has too few readers", where="on_chip", fix=fix, code="KB093")
    if min(tensor.read_by) <= first:
        what = f"{tensor} is written by part {first} and read by part {min(tensor.read_by)}"
        raise BadInput(what, where="on_chip", fix="give the parts in the order in which they run", code="KB093")


def _without(part: Work, tensor: OnChip, direction: TrafficDirection) -> Work:
    """Return a part without the bytes of a tensor in one direction."""
    size, found = tensor.bytes, []
    for one in part.bytes:
        amount = one.compulsory.value
        if (one.level, one.direction) == ("dram", direction) and amount >= size:
            found.append(ByteCount("dram", direction, Count(amount - size, one.compulsory.exactness)))
            size = 0
        elif one.level == "dram":
            found.append(one)
    if size:
        what = f"{tensor} has {size} B, and {_said(part)} counts fewer to {direction}"
        raise BadInput(
            what, where="on_chip", fix="give the sizes and type that this part reads or writes", code="KB093"
        )
    return replace(part, bytes=tuple(found))
