"""Tensors of an operator as a trace recorded them: extents, type and strides become elements and bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from kopt_kb.packs.step_ranking.recorded import OpCall
from kopt_kb.problem.counts import Count, dram
from kopt_kb.problem.work import Work

__all__ = ["MOST_ELEMENTS", "Operand", "Shaped", "moved"]

_TYPES = {
    "double": ("fp64", 8),
    "float": ("fp32", 4),
    "c10::Half": ("fp16", 2),
    "c10::BFloat16": ("bf16", 2),
    "c10::Float8_e4m3fn": ("fp8", 1),
    "c10::Float8_e5m2": ("fp8", 1),
    "c10::Float8_e4m3fnuz": ("fp8", 1),
    "c10::Float8_e5m2fnuz": ("fp8", 1),
    "long int": ("int64", 8),
    "long": ("int64", 8),
    "int": ("int32", 4),
    "short int": ("int16", 2),
    "short": ("int16", 2),
    "signed char": ("int8", 1),
    "unsigned char": ("uint8", 1),
    "bool": ("bool", 1),
    "c10::complex<float>": ("complex64", 8),
    "c10::complex<double>": ("complex128", 16),
}
"""Type as torch's profiler writes it → name and bytes of an element."""
_LISTED = re.compile(r"OpaqueType<(\d+)u?>|\b(c10::Half|c10::BFloat16|float|double|__half|__nv_bfloat16|long)\b")
_DIGITS = 15
MOST_ELEMENTS = 1 << 56
"""Elements beyond which no tensor of any machine has any: what says so is damaged."""

_OTHER_NAMES = {"__half": "c10::Half", "__nv_bfloat16": "c10::BFloat16"}


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor: extents, name of its type, bytes of an element, strides (empty: not recorded)."""

    dims: tuple[int, ...]
    dtype: str
    width: int
    strides: tuple[int, ...] = ()

    @property
    def elements(self) -> int:
        """Elements as the operator sees them."""
        return prod(self.dims)

    @property
    def stored(self) -> int:
        """Bytes that stand in memory: an axis of stride 0 is there once."""
        if len(self.strides) != len(self.dims):
            return self.width * self.elements
        return self.width * prod(extent for extent, stride in zip(self.dims, self.strides, strict=True) if stride)

    @property
    def bytes(self) -> int:
        """Bytes of all elements."""
        return self.width * self.elements


@dataclass(frozen=True)
class Shaped:
    """A call of an operator with its tensors, and the kernels that it launched.

    Attributes:
        call: As recorded.
        kernels: Names of its kernels.
    """

    call: OpCall
    kernels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the operator."""
        return self.call.name

    @cached_property
    def operands(self) -> tuple[Operand | None, ...]:
        """Arguments by place: None for what is no tensor of a known type."""
        strides = (*self.call.strides, *((),) * len(self.call.dims))
        return tuple(map(_operand, self.call.dims, self.call.types, strides))

    @cached_property
    def lists(self) -> tuple[tuple[Operand, ...], ...]:
        """Arguments that are lists of tensors; their type is the one that the kernels' names have."""
        known = next((one for name in self.kernels if (one := _listed(name)) is not None), None)
        if known is None:
            return ()
        dtype, width = known
        found = []
        for dims, word in zip(self.call.dims, self.call.types, strict=False):
            extents = dims if word == "TensorList" and dims and all(isinstance(one, tuple) for one in dims) else ()
            if extents:
                found.append(tuple(Operand(one, dtype, width) for one in extents if _is_extents(one)))
        return tuple(found)

    @property
    def tensors(self) -> tuple[Operand, ...]:
        """Arguments that are tensors, numbers left out."""
        return tuple(one for one in self.operands if one is not None and one.dims)

    def at(self, place: int) -> Operand | None:
        """Return the tensor at a place, None where there is none."""
        return self.operands[place] if place < len(self.operands) else None

    def said(self, place: int) -> str:
        """Return the value of an argument that is no tensor, empty where the trace has none."""
        value = self.call.concrete[place] if place < len(self.call.concrete) else ""
        return value if isinstance(value, str) else ""

    def numbers(self, place: int) -> tuple[int, ...]:
        """Return the whole numbers in such a value, `[1, 1]`; none where one is beyond any extent."""
        found = re.findall(r"-?\d+", self.said(place))
        return () if any(len(one) > _DIGITS for one in found) else tuple(map(int, found))

    def runs(self, pattern: re.Pattern[str]) -> bool:
        """Return whether a kernel's name has the pattern."""
        return any(pattern.search(one) for one in self.kernels)


def moved(read: Sequence[Operand | None] | int, written: Sequence[Operand | None] | int, dtype: str = "fp32") -> Work:
    """Return work that is its bytes alone: tensors, each once, or sums of bytes."""
    sides = [one if isinstance(one, int) else sum(each.stored for each in one if each) for one in (read, written)]
    return Work("bytes", (), dtype, (), dram(*sides))


def lower(work: Work) -> Work:
    """Return the same work with its bytes as a lower bound: some of what it moves is not in the trace."""
    bounds = tuple(type(one)(one.level, one.direction, Count(one.compulsory.value, "lower")) for one in work.bytes)
    return Work(work.op, work.shape, work.dtype, work.flops, bounds)


def _operand(dims: Any, word: Any, strides: Any) -> Operand | None:
    known = _TYPES.get(word) if isinstance(word, str) else None
    if known is None or not isinstance(dims, tuple) or not _is_extents(dims):
        return None
    steps = strides if isinstance(strides, tuple) and _is_whole(strides) else ()
    return Operand(dims, *known, steps)


def _is_extents(values: tuple[Any, ...]) -> bool:
    return _is_whole(values) and prod(values) <= MOST_ELEMENTS


def _is_whole(values: tuple[Any, ...]) -> bool:
    return all(isinstance(one, int) and 0 <= one < 1 << 48 for one in values)


def _listed(kernel: str) -> tuple[str, int] | None:
    match = _LISTED.search(kernel)
    if match is None:
        return None
    if match[1]:
        return "opaque", int(match[1])
    return _TYPES[_OTHER_NAMES.get(match[2], match[2])]
