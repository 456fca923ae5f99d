"""What a launch passes to a compiled Triton kernel, as typed arguments of a record.

The order follows Triton's launcher (read in versions 3.6 to 3.9): run-time parameters in the order of the signature,
members of a tuple one by one, a host descriptor as a tensor map with its shape as i32 and strides as i64 behind it,
then pointers that the compiler added, global scratch first. How many those are is read from the parameters of the PTX
entry itself, not from a version number.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Given, worded
from kopt_kb.launch.record.known import KnownContents
from kopt_kb.launch.record.model import Argument, Keywords, NullArg, ScalarArg, TensorAddress, TensorMapArg, TensorView
from kopt_kb.launch.record.stand_ins import ADDRESSES
from kopt_kb.launch.record.trace import CallTrace, on_device

__all__ = ["all_given", "arguments_of", "entry_parameters", "given_of", "run_time", "tensor_of"]

_ELEMENT_TYPES = {8: 10, 9: 8, 10: 9}
"""Triton's numbers of element types that CUtensorMapDataType counts otherwise (driver.c of Triton 3.6)."""


def run_time(signature: Keywords, bound: Keywords) -> Iterator[tuple[str, str, Any]]:
    """Yield name, type and value of each run-time parameter; members of a tuple one by one."""
    for name, kind in signature.items():
        yield from _members(name, kind, bound[name])


def _members(name: str, kind: Any, value: Any) -> Iterator[tuple[str, str, Any]]:
    if isinstance(kind, tuple):
        for number, (one, part) in enumerate(zip(kind, value, strict=True)):
            yield from _members(f"{name}.{number}", one, part)
    elif kind != "constexpr":
        yield name, str(kind), value


def arguments_of(trace: CallTrace, compiled: Any, bound: Keywords, grid: list[int]) -> tuple[Argument, ...]:
    """Return the arguments of a launch.

    Args:
        trace: Knows where tensors lie, and is told what a launch may use.
        compiled: What Triton compiled.
        bound: Parameter → value.
        grid: Programs along x, y, z.

    Raises:
        BadInput: An argument is none that a record has, or the entry takes others than are known.
    """
    made = list[Argument]()
    descriptors = iter(getattr(compiled.metadata, "tensordesc_meta", None) or ())
    for name, kind, value in run_time(compiled.src.signature, bound):
        if kind.startswith("tensordesc"):
            made += _descriptor(trace, name, value, next(descriptors, None))
        elif kind.startswith("*"):
            made.append(_pointer(trace, name, value))
        else:
            if isinstance(value, int) and abs(value) >= ADDRESSES:
                trace.reasons.append(f"{name} of a launch may be an address, which a replay does not have")
            made.append(_scalar(name, kind, value))
    return (*made, *_added(trace, compiled, len(made), grid))


def _pointer(trace: CallTrace, name: str, value: Any) -> Argument:
    if value is None:
        return NullArg(name)
    if not on_device(tensor_of(value)):
        trace.reasons.append(f"{name} of a launch is no tensor on the device")
        return NullArg(name)
    view = trace.view(tensor_of(value))
    trace.used(view)
    return TensorAddress(view, name)


def _descriptor(trace: CallTrace, name: str, value: Any, meta: Any) -> list[Argument]:
    view = trace.view(value.base)
    view = dataclasses.replace(view, shape=tuple(map(int, value.shape)), strides=tuple(map(int, value.strides)))
    trace.used(view)
    sizes = [ScalarArg("i32", one, f"{name}.shape") for one in view.shape]
    steps = [ScalarArg("i64", one, f"{name}.strides") for one in view.strides]
    if meta is None:  # without TMA Triton passes the pointer, and shape and strides twice
        wide = [ScalarArg("i64", one, f"{name}.shape") for one in view.shape]
        padding = ScalarArg("i1", getattr(value, "padding", "zero") == "nan", f"{name}.padding")
        return [TensorAddress(view, name), *wide, *steps, padding, *sizes, *steps]
    element = int(meta["elem_type"])
    first = TensorMapArg(
        view=view,
        box=tuple(map(int, meta["block_size"])),
        element_type=_ELEMENT_TYPES.get(element, element),
        swizzle=int(meta["swizzle"]),
        fp4_padded=bool(meta.get("fp4_padded", False)),
        nan_fill=getattr(value, "padding", "zero") == "nan",
        name=name,
    )
    return [first, *sizes, *steps]


def _added(trace: CallTrace, compiled: Any, given: int, grid: list[int]) -> list[Argument]:
    """Return the pointers that the compiler added: global scratch, profile scratch, then nothing that is used."""
    metadata, ptx = compiled.metadata, compiled.asm.get("ptx", "")
    count = entry_parameters(ptx, str(metadata.name)) - given if ptx else 2
    if not 0 <= count <= 8:
        raise BadInput(
            f"the entry takes {given + count} parameters, {given} are known",
            where=str(metadata.name),
            fix="this version of Triton passes arguments in a way that is not known here",
            code="KB444",
        )
    blocks = grid[0] * grid[1] * grid[2] * int(metadata.num_ctas)
    sizes = [int(getattr(metadata, f"{one}_scratch_size", 0) or 0) * blocks for one in ("global", "profile")]
    made: list[Argument] = []
    for number in range(count):
        size = sizes[number] if number < len(sizes) else 0
        if size:
            view = trace.scratch(size)
            trace.used(view)
            made.append(TensorAddress(view, f"scratch.{number}"))
        else:
            made.append(NullArg(f"scratch.{number}"))
    return made


def entry_parameters(ptx: str, entry: str) -> int:
    """Return how many parameters an entry of a PTX text has; 0 when the text has no such entry."""
    head = re.search(rf"\.entry\s+{re.escape(entry)}\s*\((.*?)\)", ptx, re.DOTALL)
    return len(re.findall(r"\.param\b", head[1])) if head else 0


def tensor_of(value: Any) -> torch.Tensor:
    """Return the tensor of an argument: itself, or the base of a wrapper that begins where its base does."""
    if isinstance(value, torch.Tensor):
        return value
    for name in ("base", "_base"):
        base = getattr(value, name, None)
        if isinstance(base, torch.Tensor) and (name == "base" or value.data_ptr() == base.data_ptr()):
            return base
    raise BadInput(
        f"a kernel is given a {type(value).__name__} where it takes a tensor",
        where="record",
        fix="give it the tensor itself",
        code="KB444",
    )


def given_of(value: Any, known: KnownContents | None = None) -> Given:
    """Return what a parameter was given as data: the layout of a tensor with its known integers, or the number."""
    if value is None or isinstance(value, bool | int | float):
        return worded(value)
    described: Any = value
    if dataclasses.is_dataclass(value) and hasattr(value, "block_shape"):
        block = tuple(map(int, described.block_shape))
        shape, strides = tuple(map(int, described.shape)), tuple(map(int, described.strides))
        return TensorSpec(shape, str(described.base.dtype), strides, block)
    try:
        tensor = tensor_of(value)
    except BadInput:
        return None
    shape, dtype = tuple(map(int, tensor.shape)), str(tensor.dtype)
    values = known.integers(tensor) if known is not None else None
    if values is not None and shape:
        return TensorSpec(shape, dtype, values=values)
    return TensorSpec(shape, dtype, tuple(map(int, tensor.stride())))


def all_given(trace: CallTrace, given: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Given], ...]:
    """Return what each parameter of a launch was given; tensors that share a buffer with others say where they lie."""
    pairs = [(name, value, given_of(value, trace.known)) for name, value in given]
    views = [trace.view(_memory_of(value)) if isinstance(one, TensorSpec) else None for _, value, one in pairs]
    held = [one.buffer for one in views if one is not None]
    shared = list(dict.fromkeys(one for one in held if held.count(one) > 1))

    def placed(one: Given, view: TensorView | None) -> Given:
        if not isinstance(one, TensorSpec) or view is None or view.buffer not in shared:
            return one
        return dataclasses.replace(one, place=(shared.index(view.buffer), view.offset * view.item_bytes))

    return tuple((name, placed(one, view)) for (name, _, one), view in zip(pairs, views, strict=True))


def _memory_of(value: Any) -> torch.Tensor:
    """Return the tensor whose memory an argument is; a descriptor's is its base."""
    return value.base if hasattr(value, "block_shape") else tensor_of(value)


def _scalar(name: str, kind: str, value: Any) -> ScalarArg:
    if isinstance(value, float) and not math.isfinite(value):
        return ScalarArg(kind, "nan" if math.isnan(value) else "inf" if value > 0 else "-inf", name)
    return ScalarArg(kind, value, name)
