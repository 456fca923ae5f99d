"""What cuTile's own launch would compile a kernel for, derived from arguments without memory.

A tile kernel is compiled for constraints of its arguments: strides that are 1, extents and strides that divide by 16,
an aligned base, elements that do not overlap. The rules are those of cuTile Python 1.6 (`cext/tile_kernel.cpp`,
`compute_array_specialization_bits`, `parse_array_constraint`, `parse_element_constraint`), which asks the driver for
each array and so runs on no machine without one. With a stand-in for the driver, cuTile 1.7.0 itself gave the same
constraints for 541 drawn calls: arrays of up to six dimensions, eight types, permuted, strided, expanded and shifted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.trace import on_device

__all__ = ["PassedArgument", "Signature", "signature_of"]

_DIVISOR = 16
"""Bytes of an address and a stride, elements of an extent, that are specialised for."""

_MOST_RANK = 5
"""Ranks up to here are specialised: those that a tensor map has."""


@dataclass(frozen=True, slots=True)
class PassedArgument:
    """A run-time argument.

    Attributes:
        name: Of the parameter, with the place in a tuple behind a dot.
        value: A tensor or a number.
        type: `array`, or the scalar's type in the record's words.
        index_bits: Width of an array's extents and strides.
    """

    name: str
    value: Any
    type: str
    index_bits: int = 32


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's signature for one call.

    Attributes:
        constraints: cuTile's constraints, one a parameter.
        tuples: Whether a tuple or a constant extent needs the second calling convention.
        passed: Run-time arguments in the order in which they are passed; constants are left out.
        constants: Parameter → value of those that are compiled in.
    """

    constraints: tuple[Any, ...]
    tuples: bool
    passed: tuple[PassedArgument, ...]
    constants: dict[str, object]

    @property
    def key(self) -> str:
        """The same text for calls that compile to the same code."""
        return repr((self.constraints, sorted(self.constants.items(), key=str)))

    def assumed(self) -> Iterator[str]:
        """Yield what the code assumes of its arrays."""
        arrays = [one for one in self.passed if one.type == "array"]
        for array in arrays:
            bits = _bits(array.value)
            if bits.aligned:
                yield f"{array.name} begins at a multiple of {_DIVISOR} bytes"
            for axis in bits.unit_strides:
                yield f"{array.name}.stride({axis}) equals 1"
            for axis in bits.even_extents:
                yield f"{array.name}.shape[{axis}] is divisible by {_DIVISOR}"


@dataclass(frozen=True, slots=True)
class _Bits:
    aligned: bool
    disjoint: bool
    unit_strides: tuple[int, ...]
    even_strides: tuple[int, ...]
    even_extents: tuple[int, ...]
    single: tuple[int, ...]


class _Reader:
    """Reads arguments one by one."""

    def __init__(self) -> None:
        from cuda.tile import compilation

        self.kinds: Any = compilation
        self.tuples = False
        self.passed: list[PassedArgument] = []
        self.constants: dict[str, object] = {}

    def constraint(self, name: str, value: Any, annotation: Any) -> Any:
        if isinstance(value, tuple) and not getattr(annotation, "constant", False):
            self.tuples = True
            inner = _inner(annotation, len(value))
            items = [self.constraint(f"{name}.{at}", one, inner[at]) for at, one in enumerate(value)]
            return self.kinds.TupleConstraint(items)
        if getattr(annotation, "constant", False) or not isinstance(value, bool | int | float | torch.Tensor | list):
            if isinstance(value, torch.Tensor):
                raise BadInput(f"{name} is annotated as a constant and given a tensor", where=name, code="KB444")
            self.constants[name] = value
            self.tuples = self.tuples or isinstance(value, tuple)
            return self._constant(value)
        if isinstance(value, list):
            what = f"{name} is a list of arrays, which is passed through memory that holds addresses"
            raise BadInput(what, where=name, fix="pass the arrays as a tuple, or one by one", code="KB444")
        return (
            self._array(name, value, annotation)
            if isinstance(value, torch.Tensor)
            else self._scalar(name, value, annotation)
        )

    def _constant(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return self.kinds.TupleConstraint([self._constant(one) for one in value])
        return self.kinds.ConstantConstraint(value)

    def _scalar(self, name: str, value: Any, annotation: Any) -> Any:
        import cuda.tile as ct

        asked = getattr(getattr(annotation, "scalar", None), "dtype", None)
        wide = asked is not None and asked.bitwidth == 64
        if isinstance(value, bool):
            kind, dtype = "i1", ct.bool_
        elif isinstance(value, float):
            kind, dtype = "fp32", ct.float32
        else:
            kind, dtype = ("i64", ct.int64) if wide else ("i32", ct.int32)
            _fits(name, value, 64 if wide else 32)
        self.passed.append(PassedArgument(name, value, kind))
        return self.kinds.ScalarConstraint(dtype)

    def _array(self, name: str, tensor: Any, annotation: Any) -> Any:
        import cuda.tile as ct

        if not on_device(tensor):
            raise BadInput(
                f"{name} lies on the {tensor.device}",
                where=name,
                fix="a kernel takes arrays of the device",
                code="KB444",
            )
        said = getattr(annotation, "array", None)
        index = getattr(said, "index_dtype", ct.int32)
        for number in (*tensor.shape, *tensor.stride()):
            _fits(name, int(number), index.bitwidth)
        self.passed.append(PassedArgument(name, tensor, "array", index.bitwidth))
        bits, rank = _bits(tensor), tensor.dim()
        fixed_extents = _axes(name, rank, getattr(said, "static_shape_dims", ()))
        fixed_strides = _axes(name, rank, getattr(said, "static_stride_dims", ()))
        extents = [int(tensor.shape[at]) if at in fixed_extents else None for at in range(rank)]
        if not fixed_extents:
            extents = [1 if at in bits.single else None for at in range(rank)]
        strides = [int(tensor.stride(at)) if at in fixed_strides else None for at in range(rank)]
        if not fixed_strides:
            strides = [1 if at in bits.unit_strides else None for at in range(rank)]
        self.tuples = self.tuples or any(one is not None for one in extents)
        step = _DIVISOR // tensor.element_size()
        return self.kinds.ArrayConstraint(
            _dtype(name, tensor.dtype),
            rank,
            index_dtype=index,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=not bits.disjoint,
            stride_constant=strides,
            shape_constant=extents,
            stride_divisible_by=[step if at in bits.even_strides and strides[at] is None else 1 for at in range(rank)],
            shape_divisible_by=[
                _DIVISOR if at in bits.even_extents and extents[at] is None else 1 for at in range(rank)
            ],
            base_addr_divisible_by=_DIVISOR if bits.aligned else 1,
        )


def signature_of(kernel: Any, arguments: tuple[Any, ...]) -> Signature:
    """Return the signature of a `@ct.kernel` for the arguments of a launch.

    Raises:
        BadInput: There are too many or too few of them, or one is of a kind that a record does not have.
    """
    function = kernel._annotated_function
    names = list(function.pysig.parameters)
    if len(names) != len(arguments):
        what = f"a launch gives {len(arguments)} arguments, the kernel takes {len(names)}: {', '.join(names)}"
        raise BadInput(what, where=function.pyfunc.__name__, fix="give one for each parameter", code="KB444")
    reader = _Reader()
    made = tuple(
        _constraint(reader, name, value, annotation)
        for name, value, annotation in zip(names, arguments, function.parameter_annotations, strict=True)
    )
    return Signature(made, reader.tuples, tuple(reader.passed), reader.constants)


def _constraint(reader: _Reader, name: str, value: Any, annotation: Any) -> Any:
    try:
        return reader.constraint(name, value, annotation)
    except (TypeError, ValueError) as error:
        fix = "give arrays, numbers, types and tuples of them; a tensor of one element and a flag in place of None"
        raise BadInput(f"{name} is given {value!r:.80}: {error}", where=name, fix=fix, code="KB444") from error


def _inner(annotation: Any, count: int) -> list[Any]:
    """Return the annotations of a tuple's items."""
    items = getattr(annotation, "items", None)
    return list(items) if items is not None else [getattr(annotation, "each", annotation)] * count


def _bits(tensor: Any) -> _Bits:
    """Return what the launch would see of an array; an allocation begins at a multiple of at least 16 bytes."""
    shape, strides = tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))
    item, few = tensor.element_size(), len(shape) <= _MOST_RANK
    axes = range(len(shape)) if few else range(0)
    ordered = sorted(zip(strides, shape, strict=True))
    disjoint = not ordered or ordered[0][0] > 0
    for (step, extent), (next_step, _) in pairwise(ordered):
        disjoint &= next_step > 0 and next_step >= step * extent
    return _Bits(
        aligned=int(tensor.storage_offset()) * item % _DIVISOR == 0,
        disjoint=disjoint,
        unit_strides=tuple(at for at in axes if strides[at] == 1),
        even_strides=tuple(at for at in axes if strides[at] * item % _DIVISOR == 0),
        even_extents=tuple(at for at in axes if shape[at] % _DIVISOR == 0),
        single=tuple(at for at in axes if shape[at] == 1),
    )


def _axes(name: str, rank: int, given: tuple[int, ...]) -> frozenset[int]:
    """Return axes counted from the front; each is there, and named once."""
    axes = [axis + rank if axis < 0 else axis for axis in given]
    if len(set(axes)) < len(axes) or not all(0 <= axis < rank for axis in axes):
        what = f"{name} of {rank} dimensions is annotated with the axes {given}"
        raise BadInput(what, where=name, fix="name each of its axes once", code="KB444")
    return frozenset(axes)


def _fits(name: str, value: int, bits: int) -> None:
    if not -math.ldexp(1, bits - 1) <= value < math.ldexp(1, bits - 1):
        what = f"{value} of {name} does not fit {bits} bits"
        raise BadInput(
            what, where=name, fix="annotate the parameter with ct.IndexedWithInt64 or ct.ScalarInt64", code="KB444"
        )


def _dtype(name: str, dtype: torch.dtype) -> Any:
    import cuda.tile as ct

    word = str(dtype).removeprefix("torch.")
    found = getattr(ct, "bool_" if word == "bool" else word, None)
    if found is None:
        raise BadInput(f"{name} is of {dtype}, which cuTile does not have", where=name, code="KB061")
    return found
