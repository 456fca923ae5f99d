"""The launch record: steps over declared buffers, code objects by hash, typed arguments; plain data, checked.

A record is made by code that nobody trusts. `check` therefore bounds everything that a replay would allocate, read or
launch: buffers and their number, offsets and strides, boxes of tensor maps, grids, steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from kopt_kb.errors import BadInput
from kopt_kb.problem.dtypes import FORMATS
from kopt_kb.wire import Sha256, Wire

__all__ = [
    "VERSION",
    "Buffer",
    "Copy",
    "Fill",
    "Input",
    "Keywords",
    "Launch",
    "LaunchRecord",
    "NullArg",
    "ScalarArg",
    "Step",
    "TensorArg",
    "TensorMapArg",
    "View",
]

VERSION = 1
"""Version of the schema that this program writes."""

Keywords: TypeAlias = Mapping[str, Any]
"""Keyword arguments of a call of somebody else: torch, Triton, a user's launcher."""

_MAX_BUFFERS, _MAX_STEPS, _MAX_RANK = 256, 1024, 16
_MAX_SCRATCH_BYTES = 1 << 36
_ITEM_BYTES = {one.triton: one.bits // 8 for one in FORMATS}
_SCALARS = {
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
    "fp16": 2, "bf16": 2, "fp32": 4, "f32": 4, "fp64": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class View(Wire):
    """A tensor inside a buffer.

    Attributes:
        buffer: Name of the buffer.
        offset: Elements from the buffer's start to the first element.
        shape: Extents in elements.
        strides: Steps in elements, one a dimension, none negative.
        dtype: Triton's type string of `problem.dtypes.FORMATS`.
    """

    buffer: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def item_bytes(self) -> int:
        """Bytes of one element."""
        return _ITEM_BYTES[self.dtype]

    @property
    def end_bytes(self) -> int:
        """Bytes from the buffer's start to behind the last element; the offset alone for an empty tensor."""
        reach = sum((extent - 1) * step for extent, step in zip(self.shape, self.strides, strict=True))
        return (self.offset + (0 if 0 in self.shape else reach + 1)) * self.item_bytes


@dataclass(frozen=True, slots=True)
class Buffer(Wire):
    """Device memory that the steps use.

    Attributes:
        name: The launcher's parameter for an input, `out`, `out1`, … for results, `scratch0`, … for the rest.
        role: Inputs and outputs belong to the problem; scratch is poisoned before a replay; zeroed scratch
            (locks, counters of a compiler's runtime) is zero before and has to be zero again after it.
        size_bytes: Its size.
        alignment: Bytes that its address is a multiple of, as the compiler was told.
        changed: Whether a replay may change it; an input that may not is compared afterwards.
    """

    name: str
    role: Literal["input", "output", "scratch", "zeroed"]
    size_bytes: int
    alignment: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Input(Wire):
    """A tensor that the launcher was given, by its parameter; the order of inputs is the order of the call."""

    name: str
    view: View


@dataclass(frozen=True, slots=True)
class TensorArg(Wire):
    """The address of a tensor's first element."""

    view: View
    name: str = ""
    kind: Literal["tensor"] = "tensor"


@dataclass(frozen=True, slots=True)
class ScalarArg(Wire):
    """A number by value; `type` is its width in the kernel's signature; floats that JSON lacks are words."""

    type: str
    value: int | float | bool | Literal["inf", "-inf", "nan"]
    name: str = ""
    kind: Literal["scalar"] = "scalar"


@dataclass(frozen=True, slots=True)
class TensorMapArg(Wire):
    """A tensor map (TMA descriptor) that whoever replays encodes; its shape and strides follow it as arguments.

    Attributes:
        view: The tensor; its innermost stride is 1.
        box: Elements that one copy moves, a dimension.
        element_type: CUtensorMapDataType as an integer.
        swizzle: CUtensorMapSwizzle as an integer.
        fp4_padded: Whether 4-bit elements are padded to 16 elements of 8 bytes.
        nan_fill: Whether elements outside read as NaN instead of zero.
    """

    view: View
    box: tuple[int, ...]
    element_type: int
    swizzle: int
    fp4_padded: bool = False
    nan_fill: bool = False
    name: str = ""
    kind: Literal["tensor_map"] = "tensor_map"


@dataclass(frozen=True, slots=True)
class NullArg(Wire):
    """A pointer that is not passed."""

    name: str = ""
    kind: Literal["null"] = "null"


Argument = TensorArg | ScalarArg | TensorMapArg | NullArg


@dataclass(frozen=True, slots=True)
class Fill(Wire):
    """Every element of a view set to one value, given as the bytes of one element in hex."""

    view: View
    pattern: str
    step: Literal["fill"] = "fill"


@dataclass(frozen=True, slots=True)
class Copy(Wire):
    """A view copied into another of the same shape and dtype; both contiguous."""

    source: View
    target: View
    step: Literal["copy"] = "copy"


@dataclass(frozen=True, slots=True)
class Launch(Wire):
    """One kernel launch.

    Attributes:
        code: sha256 of the code object, an ELF file for the record's target.
        entry: Name of the kernel in it.
        grid: Blocks along x, y, z.
        block: Threads along x, y, z.
        cluster: Blocks of a cluster along x, y, z; all 1 without clusters.
        shared_bytes: Dynamic shared memory of a block.
        arguments: In the order of the kernel's parameters.
        cooperative: Whether all blocks have to be resident at once.
        overlap: Whether the launch may begin before the one before it ends (programmatic dependent launch).
    """

    code: Sha256
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]
    cooperative: bool = False
    overlap: bool = False
    step: Literal["launch"] = "launch"


Step = Fill | Copy | Launch


@dataclass(frozen=True, slots=True)
class LaunchRecord(Wire):
    """What a launcher asked the GPU to do for one problem shape.

    Attributes:
        v: Version of the schema.
        label: What was recorded: file and shape, or the call.
        op: Operation id that the recorded file declares; empty for a call.
        shape: Problem shape of an op file; empty for a call.
        dtype: Storage type of an op file; empty for a call.
        target: Target of the code objects, such as sm_90.
        buffers: All device memory that the steps use.
        inputs: The tensors that the launcher was given, in the order of the call.
        outputs: The tensors that it returned.
        steps: In order.
        codes: Code object by sha256 → bytes.
        sources: Files that the maker read from the project → sha256.
        versions: Program → version.
        assumed: What specialisation took for granted, such as divisible by 16; other arguments need a new record.
        host: What the launcher did besides, dispatcher operations in order of their first use; not replayed.
        not_replayable: Why a replay would not compute what the launcher does; empty when it would.
    """

    v: int
    label: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    target: str
    buffers: tuple[Buffer, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[View, ...]
    steps: tuple[Step, ...]
    codes: Mapping[str, int]
    sources: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    not_replayable: str = ""

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Launch))

    def check(self, where: str) -> None:
        """Refuse what no replay may allocate, read or launch; raises `BadInput` that names the member."""
        _Check(self, where).all()


class _Check:
    def __init__(self, record: LaunchRecord, where: str) -> None:
        self._record, self._where = record, where
        self._buffers = {one.name: one for one in record.buffers}

    def _refuse(self, what: str) -> None:
        raise BadInput(
            f"the launch record can't be used: {what}", where=self._where, fix="record it again", code="KB440"
        )

    def _need(self, holds: bool, what: str) -> None:
        if not holds:
            self._refuse(what)

    def all(self) -> None:
        record = self._record
        self._need(record.v == VERSION, f"version {record.v}, this program reads {VERSION}")
        self._need(len(self._buffers) == len(record.buffers) <= _MAX_BUFFERS, "buffers share a name, or are too many")
        self._need(0 < len(record.steps) <= _MAX_STEPS, f"{len(record.steps)} steps")
        for one in record.buffers:
            self._need(one.size_bytes > 0, f"buffer {one.name} of {one.size_bytes} bytes")
            self._need(0 < one.alignment <= 4096 and one.alignment.bit_count() == 1, f"alignment of {one.name}")
        own = sum(one.size_bytes for one in record.buffers if one.role in {"scratch", "zeroed"})
        self._need(own <= _MAX_SCRATCH_BYTES, f"{own} bytes of scratch")
        for given in record.inputs:
            self._view(given.view, f"input {given.name}")
        for number, view in enumerate(record.outputs):
            self._view(view, f"output {number}")
        for number, step in enumerate(record.steps):
            self._step(step, f"steps[{number}]")

    def _view(self, view: View, place: str) -> None:
        self._need(view.buffer in self._buffers, f"{place}: no buffer {view.buffer!r}")
        self._need(view.dtype in _ITEM_BYTES, f"{place}: dtype {view.dtype!r}")
        self._need(len(view.shape) == len(view.strides) <= _MAX_RANK, f"{place}: shape and strides differ in rank")
        self._need(min((view.offset, *view.shape, *view.strides)) >= 0, f"{place}: a negative number")
        room = self._buffers[view.buffer].size_bytes
        self._need(view.end_bytes <= room, f"{place}: ends at byte {view.end_bytes}, {view.buffer} has {room}")

    def _step(self, step: Step, place: str) -> None:
        if isinstance(step, Fill):
            self._view(step.view, place)
            self._need(len(step.pattern) == 2 * step.view.item_bytes, f"{place}: pattern {step.pattern!r}")
            self._written(step.view, place)
        elif isinstance(step, Copy):
            self._view(step.source, place)
            self._view(step.target, place)
            same = (step.source.shape, step.source.dtype) == (step.target.shape, step.target.dtype)
            self._need(same, f"{place}: copies between unlike tensors")
            self._written(step.target, place)
        else:
            self._launch(step, place)

    def _written(self, view: View, place: str) -> None:
        self._need(self._buffers[view.buffer].changed, f"{place}: writes {view.buffer}, which may not change")

    def _launch(self, step: Launch, place: str) -> None:
        self._need(step.code in self._record.codes, f"{place}: no code object {step.code[:12]}")
        sizes = (*step.grid, *step.block, *step.cluster)
        self._need(
            min(sizes) >= 1 and step.grid[0] < 2**31 and max(step.grid[1:]) < 2**16, f"{place}: grid {step.grid}"
        )
        self._need(math.prod(step.block) <= 2**10, f"{place}: {math.prod(step.block)} threads a block")
        self._need(math.prod(step.cluster) <= 2**4, f"{place}: cluster {step.cluster}")
        self._need(0 <= step.shared_bytes < 2**20, f"{place}: {step.shared_bytes} bytes of shared memory")
        for number, one in enumerate(step.arguments):
            self._argument(one, f"{place}.arguments[{number}]")

    def _argument(self, one: Argument, place: str) -> None:
        if isinstance(one, ScalarArg):
            self._need(one.type in _SCALARS, f"{place}: type {one.type!r}")
        elif isinstance(one, TensorArg | TensorMapArg):
            self._view(one.view, place)
        if isinstance(one, TensorMapArg):
            fits = len(one.box) == len(one.view.shape) <= 5 and all(0 < box <= 256 for box in one.box)
            self._need(fits, f"{place}: box {one.box}")
