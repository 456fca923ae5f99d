"""The arguments of a launch: numbers and described tensors bound to a kernel's IR parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from numpy import array_equal
from numpy.typing import NDArray

from kopt_kb.analysis.ir.triton.irtypes import parse_type
from kopt_kb.analysis.ir.triton.model import Function, IrError, Module
from kopt_kb.problem.dtypes import format_of

__all__ = ["Binding", "KernelArgument", "TensorArg", "bind"]

_FIRST_BASE = 1 << 40
_ALIGNMENT = 1 << 12


@dataclass(frozen=True, slots=True)
class TensorArg:
    """A tensor that a kernel is launched with: its layout, and its contents where they steer the work.

    Args:
        shape: Extents in elements.
        dtype: Any spelling of `problem.dtypes.FORMATS` (`fp16`, `float32`, `f16`, `i32` …).
        strides: Elements between neighbours along each dimension; contiguous when None.
        base: Byte address; None places tensors apart from each other, aligned to 4096 bytes.
        data: Contents of a contiguous integer tensor (indices, group sizes, offsets); a kernel that only reads
            it is then counted exactly where addresses or trip counts depend on it.
    """

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    base: int | None = None
    data: NDArray[Any] | None = field(default=None, compare=False, repr=False)

    def itemsize_bytes(self) -> int:
        """Bytes of one element; `ValueError` for an unknown dtype."""
        known = format_of(self.dtype)
        return parse_type(self.dtype if known is None else known.ir).itemsize_bytes

    def element_strides(self) -> tuple[int, ...]:
        """Strides in elements, the contiguous ones when none were given."""
        if self.strides is not None:
            return self.strides
        steps = [1]
        for extent in reversed(self.shape[1:]):
            steps.append(steps[-1] * extent)
        return tuple(reversed(steps[: len(self.shape)]))

    def span_bytes(self) -> int:
        """Bytes from the first to past the last element."""
        if 0 in self.shape:
            return 0
        last = sum((extent - 1) * step for extent, step in zip(self.shape, self.element_strides(), strict=True))
        return (last + 1) * self.itemsize_bytes()

    def elements_bytes(self) -> int:
        """Bytes that its elements take, gaps of a strided layout left out."""
        extents = [extent for extent, step in zip(self.shape, self.element_strides(), strict=True) if step]
        return min(self.span_bytes(), prod(extents) * self.itemsize_bytes())


KernelArgument = int | float | bool | TensorArg


@dataclass(frozen=True, slots=True)
class Binding:
    """Arguments by parameter position, and the byte ranges of the tensors among them.

    `bases[i]` is parameter i's address when it is a pointer or descriptor; `tensors[i]` what is known of it.
    """

    scalars: Mapping[int, int | float | bool]
    tensors: Mapping[int, TensorArg]
    bases: Mapping[int, int]

    def overlap(self, one: int, two: int) -> bool:
        """Return whether two described tensors share bytes of their spans, as one does with itself."""
        spans = [(self.bases[each], self.bases[each] + self.tensors[each].span_bytes()) for each in (one, two)]
        return one == two or (spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1])

    def holds_the_same(self, one: int, two: int) -> bool:
        """Return whether two described tensors are one, with the same contents."""
        first, second = self.tensors[one], self.tensors[two]
        alike = (self.bases[one], first.shape, first.itemsize_bytes()) == (
            self.bases[two], second.shape, second.itemsize_bytes(),
        )  # fmt: skip
        return alike and first.data is not None and second.data is not None and array_equal(first.data, second.data)

    def memory_bytes(self, parameters: Iterable[int]) -> int:
        """Return the bytes that the elements of some described tensors take, those that several share once.

        Of tensors that overlap it is an upper bound: the bytes of all elements, at most those of the common span.
        """
        total, elements, first, last = 0, 0, 0, -1
        for index in sorted(parameters, key=lambda each: self.bases[each]):
            tensor, start = self.tensors[index], self.bases[index]
            if start >= last:
                total += min(elements, last - first) if last >= 0 else 0
                elements, first = 0, start
            elements, last = elements + tensor.elements_bytes(), max(last, start + tensor.span_bytes())
        return total + (min(elements, last - first) if last >= 0 else 0)


def bind(module: Module, kernel: Function, args: Mapping[int | str, KernelArgument]) -> Binding:
    """Match arguments to parameters by position or IR name and give every pointer an address.

    A tensor given for a host descriptor also fills the shape and stride parameters that follow it.

    Raises:
        IrError: An argument that names no parameter, or is of the wrong kind for it.
    """
    scalars: dict[int, int | float | bool] = {}
    tensors: dict[int, TensorArg] = {}
    for key, value in args.items():
        index = _position(module, kernel, key)
        kind = module.types[kernel.parameters[index]].kind
        if isinstance(value, TensorArg) != (kind in ("pointer", "descriptor")):
            raise IrError(
                f"argument {key!r} is {type(value).__name__}, parameter %{kernel.parameter_names[index]} is {kind}",
                where=f"{module.file}:{kernel.line}",
                fix="give numbers for scalars and TensorArg for pointers and descriptors",
                code="KB042",
            )
        if isinstance(value, TensorArg):
            tensors[index] = _checked(module, kernel, key, value)
            scalars = {**_descriptor_fields(module, kernel, index, value), **scalars}
        else:
            scalars[index] = value
    return Binding(scalars, tensors, _bases(module, kernel, tensors))


def _position(module: Module, kernel: Function, key: int | str) -> int:
    if isinstance(key, int) and 0 <= key < len(kernel.parameters):
        return key
    if isinstance(key, str) and key.lstrip("%") in kernel.parameter_names:
        return kernel.parameter_names.index(key.lstrip("%"))
    names = ", ".join(f"{i} {name}" for i, name in enumerate(kernel.parameter_names))
    raise IrError(
        f"no parameter {key!r}", where=f"{module.file}:{kernel.line}", fix=f"the parameters are {names}", code="KB042"
    )


def _checked(module: Module, kernel: Function, key: int | str, value: TensorArg) -> TensorArg:
    try:
        value.span_bytes()
    except ValueError as error:
        raise IrError(
            f"argument {key!r}: dtype or strides do not fit ({error})",
            where=f"{module.file}:{kernel.line}",
            fix="use a dtype such as fp16 and as many strides as dimensions",
            code="KB042",
        ) from None
    data = value.data
    if data is not None and (data.shape != value.shape or value.strides is not None or data.dtype.kind not in "iub"):
        raise IrError(
            f"argument {key!r}: data must be integers of shape {value.shape} without strides",
            where=f"{module.file}:{kernel.line}",
            fix="give a contiguous integer array of the tensor's shape, or leave data out",
            code="KB042",
        )
    return value


def _descriptor_fields(module: Module, kernel: Function, index: int, tensor: TensorArg) -> dict[int, int]:
    """Values of the parameters that triton adds after a host descriptor.

    With a tensor memory engine the descriptor is followed by extents and strides; without one it becomes a
    pointer, extents and strides, one or two flags (padding with NaN, rounding to tf32; both off), and the
    extents and strides again.
    """
    followers = _followers(module, kernel, index)
    fields = (*tensor.shape, *tensor.element_strides())
    flags = len(followers) - 2 * len(fields)
    if module.types[kernel.parameters[index]].kind == "descriptor":
        return dict(zip(followers, fields, strict=False))
    if flags not in (1, 2):
        return {}
    return dict(zip(followers, (*fields, *(0,) * flags, *fields), strict=True))


def _followers(module: Module, kernel: Function, index: int) -> list[int]:
    """The scalar parameters after one that carry its name with a suffix."""
    stem = kernel.parameter_names[index]
    found: list[int] = []
    for position in range(index + 1, len(kernel.parameters)):
        name, kind = kernel.parameter_names[position], module.types[kernel.parameters[position]].kind
        if kind != "scalar" or not re.fullmatch(rf"{re.escape(stem)}(_\d+|\..+)", name):
            break
        found.append(position)
    return found


def _bases(module: Module, kernel: Function, tensors: Mapping[int, TensorArg]) -> dict[int, int]:
    bases: dict[int, int] = {}
    free = max([_FIRST_BASE, *(t.base + t.span_bytes() for t in tensors.values() if t.base is not None)])
    for index, value in enumerate(kernel.parameters):
        if module.types[value].kind not in ("pointer", "descriptor"):
            continue
        tensor = tensors.get(index)
        if tensor is not None and tensor.base is not None:
            bases[index] = tensor.base
            continue
        free = (free // _ALIGNMENT + 1) * _ALIGNMENT
        bases[index] = free
        # A pointer whose tensor nobody described keeps a range that no realistic offset leaves.
        free += tensor.span_bytes() if tensor is not None else _FIRST_BASE
    return bases
