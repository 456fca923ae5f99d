"""The launch record: steps over declared buffers, code objects by hash, typed arguments; plain data.

A record is made by code that nobody trusts: `bounds.check_record` refuses what no replay may allocate, read or launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from kopt_kb.base.wire import JsonMap, Sha256, Wire
from kopt_kb.launch.record.code_request import CodeRequest
from kopt_kb.problem.dtypes import FORMATS

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
    "StructArg",
    "StructMember",
    "TensorAddress",
    "TensorMapArg",
    "TensorView",
]

VERSION = 1
"""Version of the schema that this program writes."""

Keywords: TypeAlias = Mapping[str, Any]
"""Keyword arguments of a call of somebody else: torch, Triton, a user's launcher."""

_ITEM_BYTES = {one.triton: one.bits // 8 for one in FORMATS}


@dataclass(frozen=True, slots=True)
class TensorView(Wire):
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
    def contiguous(self) -> bool:
        """Whether the elements lie densely in the order of their indices; extents of 1 may have any stride."""
        expected = 1
        for extent, step in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent > 1 and step != expected:
                return 0 in self.shape
            expected *= extent
        return True

    @property
    def overlaps(self) -> bool:
        """Whether two indices may name one element, as after an expansion."""
        reach = 0
        for step, extent in sorted(zip(self.strides, self.shape, strict=True)):
            if extent > 1 and step <= reach:
                return 0 not in self.shape
            reach += (extent - 1) * step if extent > 1 else 0
        return False

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
    view: TensorView


@dataclass(frozen=True, slots=True)
class TensorAddress(Wire):
    """The address of a tensor's first element."""

    view: TensorView
    name: str = ""
    kind: Literal["tensor"] = "tensor"


@dataclass(frozen=True, slots=True)
class ScalarArg(Wire):
    """A number by value; `type` is its width in the kernel's signature; floats that JSON lacks are words."""

    type: str
    value: int | float | bool | Literal["inf", "-inf", "nan"]
    name: str = ""
    kind: Literal["scalar"] = "scalar"

    @property
    def size_bytes(self) -> int:
        """Bytes that it takes as a parameter, half-width floats as their bits; a truth value takes one."""
        return max(int("".join(filter(str.isdigit, self.type))) // 8, 1)


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

    view: TensorView
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


@dataclass(frozen=True, slots=True)
class StructMember(Wire):
    """A member of a structure: its first byte in it, and what it holds."""

    offset: int
    value: TensorAddress | ScalarArg | NullArg

    @property
    def size_bytes(self) -> int:
        """Bytes that it takes."""
        return self.value.size_bytes if isinstance(self.value, ScalarArg) else 8


@dataclass(frozen=True, slots=True)
class StructArg(Wire):
    """A structure by value; bytes that are no member's are zero."""

    size_bytes: int
    members: tuple[StructMember, ...]
    name: str = ""
    kind: Literal["struct"] = "struct"

    @classmethod
    def laid_out(cls, values: Sequence[TensorAddress | ScalarArg | NullArg], name: str = "") -> StructArg:
        """Return a structure whose members lie as C lays them out, each at a multiple of its size."""
        members, at, widest = [], 0, 1
        for value in values:
            size = StructMember(0, value).size_bytes
            at = -(-at // size) * size
            members.append(StructMember(at, value))
            at, widest = at + size, max(widest, size)
        return cls(-(-at // widest) * widest, tuple(members), name)


Argument = TensorAddress | ScalarArg | TensorMapArg | NullArg | StructArg


@dataclass(frozen=True, slots=True)
class Fill(Wire):
    """Every element of a view set to one value, given as the bytes of one element in hex."""

    view: TensorView
    pattern: str
    step: Literal["fill"] = "fill"


@dataclass(frozen=True, slots=True)
class Copy(Wire):
    """A view copied into another of the same shape; where layouts or types differ, element by element, converted."""

    source: TensorView
    target: TensorView
    step: Literal["copy"] = "copy"

    @property
    def plain(self) -> bool:
        """Whether both lie densely and alike, so that bytes can be copied."""
        return self.source.dtype == self.target.dtype and self.source.contiguous and self.target.contiguous


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
        options: Options of the operation that the recorded file declares; null where it declares none.
        requests: Code object by sha256 → how it was compiled; null where the recorder does not say.
    """

    WIRE: ClassVar = (
        "v", "label", "op", "shape", "dtype", "target", "buffers", "inputs", "outputs", "steps", "codes", "sources",
        "versions", "assumed", "host", "not_replayable", "options?",
        "requests?",
    )  # fmt: skip
    v: int
    label: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    target: str
    buffers: tuple[Buffer, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[TensorView, ...]
    steps: tuple[Step, ...]
    codes: Mapping[str, int]
    sources: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    not_replayable: str = ""
    options: JsonMap | None = None
    requests: Mapping[str, CodeRequest] | None = None

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Launch))
