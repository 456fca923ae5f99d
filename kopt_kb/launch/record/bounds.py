"""What no replay may allocate, read, write, encode or launch, refused before anything of it happens.

A record comes from a process that ran somebody's Python. Every number in it is bounded, every name is printable, every
view lies inside its buffer, and every tensor map covers no more than its view: limits of a tensor map are those of
cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management").
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping
from typing import NoReturn

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.cubin import host_sections
from kopt_kb.launch.record.code_object import MACHINE, processor_of
from kopt_kb.launch.record.model import (
    VERSION,
    Argument,
    Buffer,
    Copy,
    Fill,
    Launch,
    LaunchRecord,
    NullArg,
    ScalarArg,
    Step,
    StructArg,
    TensorMapArg,
    TensorView,
)
from kopt_kb.launch.record.moves import move_of
from kopt_kb.problem.dtypes import FORMATS

__all__ = ["MAX_CODE_BYTES", "check_code", "check_record", "unfit_result"]

MAX_CODE_BYTES = 64 << 20
"""Size above which a code object is refused before it is read."""

_MAX_BUFFERS, _MAX_STEPS, _MAX_RANK, _MAX_ARGUMENTS, _MAX_CODES = 256, 1024, 16, 1024, 256
_MAX_BYTES, _MAX_MOVED_BYTES, _MAX_CODES_BYTES = 1 << 36, 1 << 40, 1 << 30
"""Bytes of all buffers together, of all fills and copies together, and of all code objects together."""

_MAX_NUMBER = 1 << 40
"""Above every offset, extent and stride; strides of a tensor map have to be below it in bytes."""

_MAX_ALIGNMENT = 256
"""What allocators of every driver here grant."""

_MAX_NAMES, _MAX_NAME, _MAX_WORDS = 4096, 1024, 16384
_ITEM_BYTES = {one.triton: one.bits // 8 for one in FORMATS}
_INTEGERS = {
    "i1": (-1, 1), "i8": (-(1 << 7), (1 << 8) - 1), "i16": (-(1 << 15), (1 << 16) - 1),
    "i32": (-(1 << 31), (1 << 32) - 1), "i64": (-(1 << 63), (1 << 64) - 1),
    "u1": (0, 1), "u8": (0, (1 << 8) - 1), "u16": (0, (1 << 16) - 1), "u32": (0, (1 << 32) - 1),
    "u64": (0, (1 << 64) - 1),
}  # fmt: skip
"""Type of a scalar → least and largest value; a signed type takes the bits of an unsigned one, as C does."""


def _largest(exponent: int, digits: int) -> float:
    """Return the largest finite number of a binary floating type: its greatest exponent, and bits after the point."""
    return math.ldexp(2 - math.ldexp(1, -digits), exponent)


_FLOATS = {
    "fp16": _largest(15, 10), "bf16": _largest(127, 7), "fp32": _largest(127, 23), "f32": _largest(127, 23),
    "fp64": math.inf,
}  # fmt: skip
_ELEMENTS = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2, 10: 4, 11: 4, 12: 4}
"""CUtensorMapDataType → bytes of one element (UINT8 … TFLOAT32_FTZ)."""

_PADDED = frozenset({13, 14})
"""The types of two 4-bit elements in a byte: 16U4_ALIGN8B and 16U4_ALIGN16B."""

_SWIZZLES = {0: 1 << 20, 1: 32, 2: 64, 3: 128}
"""CUtensorMapSwizzle → most bytes of a box's innermost row."""

_TARGET = re.compile(r"(?:sm_\d{2,3}[af]?|gfx[0-9a-f]{3,4})")
_ENTRY = re.compile(r"[A-Za-z0-9_$.]{1,1024}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_EM_CUDA = 190
_MAX_STRUCT_BYTES = 4096
"""Bytes that all parameters of a kernel may have (CUDA C++ Programming Guide, before 12.1)."""


def check_record(record: LaunchRecord, where: str) -> None:
    """Refuse what no replay may allocate, read or launch; raises `BadInput` that names the member."""
    _Check(record, where).all()


def check_code(code: bytes, target: str, where: str) -> None:
    """Refuse a code object that is no ELF file for a target: a driver would compile PTX, or pick from a fat binary.

    The SM of a cubin stands in the low byte of `e_flags`, from ABI version 8 on in the byte above it (read from the
    files that ptxas of CUDA 12 and 13 write).

    Raises:
        BadInput: It is something else.
    """
    whole = len(code) >= 64 and code[:6] == b"\x7fELF\x02\x01"
    machine = int.from_bytes(code[18:20], "little") if whole else 0
    if machine != (MACHINE if target.startswith("gfx") else _EM_CUDA):
        what = "the code object is no ELF file of a GPU's machine code for the record's target"
        raise BadInput(what, where=where, fix="record it again", code="KB455")
    if machine == MACHINE and processor_of(code) != target:
        what = f"the code object is for {processor_of(code) or 'another processor'}, the record for {target}"
        raise BadInput(what, where=where, fix="record it again", code="KB455")
    flags = int.from_bytes(code[48:52], "little")
    number = flags >> 8 & 0xFF if code[8] >= 8 else flags & 0xFF
    wanted = re.sub(r"\D", "", target)
    if machine == _EM_CUDA and str(number) != wanted:
        what = f"the code object is for sm_{number}, the record for {target}"
        raise BadInput(what, where=where, fix="record it again", code="KB455")
    if machine == _EM_CUDA and _for_the_host(code):
        what = "the code object holds code for the host, which a driver runs in the judge"
        raise BadInput(what, where=where, fix="record the launcher with kb record", code="KB455")


def _for_the_host(code: bytes) -> bool:
    """Return whether an ELF file holds code for the host, or sections that can't be read."""
    begin, count = int.from_bytes(code[40:48], "little"), int.from_bytes(code[60:62], "little")
    if not begin and not count:
        return False
    try:
        return bool(host_sections(code))
    except (struct.error, ValueError, IndexError):
        return True


def unfit_result(record: LaunchRecord) -> str:
    """Return why the result of an op file's record can't be judged, or nothing: whether it is memory of its own."""
    roles = {one.name: one.role for one in record.buffers}
    for view in record.outputs:
        if roles[view.buffer] == "input":
            return f"the result lies in the input {view.buffer}"
        if view.overlaps:
            return f"elements of the result {view.buffer} share their memory: strides {view.strides}"
    return ""


class _Check:
    def __init__(self, record: LaunchRecord, where: str) -> None:
        self._record, self._where = record, where
        self._buffers = {one.name: one for one in record.buffers}
        self._moved = 0

    def _refuse(self, what: str) -> NoReturn:
        raise BadInput(
            f"the launch record can't be used: {what}", where=self._where, fix="record it again", code="KB440"
        )

    def _need(self, holds: bool, what: str) -> None:
        if not holds:
            self._refuse(what)

    def all(self) -> None:
        record = self._record
        self._need(record.v == VERSION, f"version {record.v}, this program reads {VERSION}")
        self._words()
        self._need(len(self._buffers) == len(record.buffers) <= _MAX_BUFFERS, "buffers share a name, or are too many")
        self._need(0 < len(record.steps) <= _MAX_STEPS, f"{len(record.steps)} steps")
        self._codes(record.codes)
        for one in record.buffers:
            self._buffer(one)
        own = sum(one.size_bytes for one in record.buffers)
        self._need(own <= _MAX_BYTES, f"{own} bytes of memory in all buffers, at most {_MAX_BYTES}")
        self._results()
        for number, step in enumerate(record.steps):
            self._step(step, f"steps[{number}]")
        self._need(self._moved <= _MAX_MOVED_BYTES, f"{self._moved} bytes filled and copied")

    def _words(self) -> None:
        record = self._record
        self._name(record.label, "label")
        self._name(record.dtype, "dtype")
        self._need(record.op == "" or record.op.isidentifier(), f"op {record.op[:80]!r}")
        self._need(bool(_TARGET.fullmatch(record.target)), f"target {record.target[:80]!r}")
        small = len(record.shape) <= _MAX_RANK and all(0 < one < _MAX_NUMBER for one in record.shape)
        self._need(small, f"shape {record.shape[:_MAX_RANK]}")
        self._names(record.host, "host")
        self._names(record.assumed, "assumed")
        self._names((*record.versions, *record.versions.values()), "versions")
        self._names((*record.sources, *record.sources.values()), "sources")
        for path in record.sources:
            self._need(not path.startswith("/") and ".." not in path.split("/"), f"sources: path {path!r}")
        words = record.not_replayable
        self._need(len(words) <= _MAX_WORDS and words.isprintable(), "not_replayable is no printable line")

    def _names(self, names: Iterable[str], place: str) -> None:
        held = list(names)
        self._need(len(held) <= _MAX_NAMES, f"{place} has {len(held)} words")
        for one in held:
            self._name(one, place)

    def _name(self, name: str, place: str) -> None:
        self._need(len(name) <= _MAX_NAME and name.isprintable(), f"{place}: {name[:80]!r} is no printable name")

    def _codes(self, codes: Mapping[str, int]) -> None:
        self._need(len(codes) <= _MAX_CODES, f"{len(codes)} code objects")
        for digest, size in codes.items():
            self._need(bool(_DIGEST.fullmatch(digest)), f"code object {digest[:80]!r} is not named by its sha256")
            self._need(0 < size <= MAX_CODE_BYTES, f"code object {digest[:12]} of {size} bytes")
        self._need(sum(codes.values()) <= _MAX_CODES_BYTES, "code objects are too large together")

    def _buffer(self, buffer: Buffer) -> None:
        self._name(buffer.name, "buffers")
        self._need(buffer.size_bytes > 0, f"buffer {buffer.name} of {buffer.size_bytes} bytes")
        fits = 0 < buffer.alignment <= _MAX_ALIGNMENT and buffer.alignment.bit_count() == 1
        self._need(fits, f"alignment {buffer.alignment} of {buffer.name}")

    def _results(self) -> None:
        """Inputs are whole buffers of their own; only one that is also a result may change."""
        record = self._record
        named = [one.view.buffer for one in record.inputs]
        results = {one.buffer for one in record.outputs}
        self._need(len(set(named)) == len(named), "two inputs share a buffer")
        self._need(len(record.outputs) <= _MAX_BUFFERS, f"{len(record.outputs)} outputs")
        for given in record.inputs:
            self._name(given.name, "inputs")
            self._view(given.view, f"input {given.name}")
            self._need(self._buffers[given.view.buffer].role == "input", f"input {given.name} lies in no input buffer")
        for number, view in enumerate(record.outputs):
            self._view(view, f"output {number}")
            self._need(self._buffers[view.buffer].role in {"input", "output"}, f"output {number} lies in scratch")
        for buffer in record.buffers:
            self._need(buffer.role != "input" or buffer.name in named, f"{buffer.name} is an input that nobody gives")
            free = buffer.role != "input" or not buffer.changed or buffer.name in results
            self._need(free, f"input {buffer.name} may change and is no result")

    def _view(self, view: TensorView, place: str) -> None:
        self._need(view.buffer in self._buffers, f"{place}: no buffer {view.buffer[:80]!r}")
        self._need(view.dtype in _ITEM_BYTES, f"{place}: dtype {view.dtype[:80]!r}")
        self._need(len(view.shape) == len(view.strides) <= _MAX_RANK, f"{place}: shape and strides differ in rank")
        numbers = (view.offset, *view.shape, *view.strides)
        self._need(min(numbers) >= 0, f"{place}: a negative number")
        self._need(max(numbers) < _MAX_NUMBER, f"{place}: {max(numbers)} is beyond any memory")
        room = self._buffers[view.buffer].size_bytes
        self._need(view.end_bytes <= room, f"{place}: ends at byte {view.end_bytes}, {view.buffer} has {room}")

    def _step(self, step: Step, place: str) -> None:
        if isinstance(step, Fill):
            self._view(step.view, place)
            wanted = rf"[0-9a-f]{{{2 * step.view.item_bytes}}}"
            self._need(bool(re.fullmatch(wanted, step.pattern)), f"{place}: pattern {step.pattern[:80]!r}")
            self._written(step.view, place)
        elif isinstance(step, Copy):
            self._copy(step, place)
        else:
            self._launch(step, place)

    def _copy(self, step: Copy, place: str) -> None:
        one, two = step.source, step.target
        self._view(one, place)
        self._view(two, place)
        self._need(one.shape == two.shape, f"{place}: copies between unlike tensors")
        first, last = one.offset * one.item_bytes, one.end_bytes
        apart = one.buffer != two.buffer or last <= two.offset * two.item_bytes or two.end_bytes <= first
        self._need(apart, f"{place}: copies between overlapping views of {one.buffer}")
        if step.plain:
            self._written(two, place)
            return
        self._need(move_of(one, two) is not None, f"{place}: no copy from {one.dtype} to {two.dtype} of that layout")
        self._need(not two.overlaps, f"{place}: elements of the target share their memory")
        self._need(self._buffers[two.buffer].changed, f"{place}: writes {two.buffer}, which may not change")
        self._moved += math.prod(two.shape) * two.item_bytes

    def _written(self, view: TensorView, place: str) -> None:
        self._need(self._buffers[view.buffer].changed, f"{place}: writes {view.buffer}, which may not change")
        self._need(view.contiguous, f"{place}: writes what is not contiguous")
        self._moved += max(view.end_bytes - view.offset * view.item_bytes, 0)

    def _launch(self, step: Launch, place: str) -> None:
        self._need(step.code in self._record.codes, f"{place}: no code object {step.code[:12]}")
        self._need(bool(_ENTRY.fullmatch(step.entry)), f"{place}: entry {step.entry[:80]!r}")
        sizes = (*step.grid, *step.block, *step.cluster)
        self._need(
            min(sizes) >= 1 and step.grid[0] < 2**31 and max(step.grid[1:]) < 2**16, f"{place}: grid {step.grid}"
        )
        self._need(math.prod(step.block) <= 2**10, f"{place}: {math.prod(step.block)} threads a block")
        self._need(math.prod(step.cluster) <= 2**4, f"{place}: cluster {step.cluster}")
        self._need(0 <= step.shared_bytes < 2**20, f"{place}: {step.shared_bytes} bytes of shared memory")
        self._need(len(step.arguments) <= _MAX_ARGUMENTS, f"{place}: {len(step.arguments)} arguments")
        for number, one in enumerate(step.arguments):
            self._argument(one, f"{place}.arguments[{number}]")

    def _argument(self, argument: Argument, place: str) -> None:
        self._name(argument.name, place)
        if isinstance(argument, ScalarArg):
            self._scalar(argument, place)
        elif isinstance(argument, StructArg):
            self._struct(argument, place)
        elif not isinstance(argument, NullArg):
            self._view(argument.view, place)
        if isinstance(argument, TensorMapArg):
            self._tensor_map(argument, place)

    def _struct(self, arg: StructArg, place: str) -> None:
        self._need(0 < arg.size_bytes <= _MAX_STRUCT_BYTES, f"{place}: a structure of {arg.size_bytes} bytes")
        self._need(len(arg.members) <= _MAX_STRUCT_BYTES, f"{place}: {len(arg.members)} members")
        end = 0
        for member in sorted(arg.members, key=lambda member: member.offset):
            self._argument(member.value, f"{place}.{member.value.name[:80]}")
            self._need(member.offset >= end, f"{place}: two members share byte {member.offset}")
            end = member.offset + member.size_bytes
        self._need(end <= arg.size_bytes, f"{place}: a member ends at byte {end} of {arg.size_bytes}")

    def _scalar(self, arg: ScalarArg, place: str) -> None:
        if arg.type in _INTEGERS:
            least, most = _INTEGERS[arg.type]
            fits = isinstance(arg.value, int) and least <= arg.value <= most
        else:
            self._need(arg.type in _FLOATS, f"{place}: type {arg.type[:80]!r}")
            fits = isinstance(arg.value, str) or abs(arg.value) <= _FLOATS[arg.type]
        self._need(fits, f"{place}: {arg.value!r} is no {arg.type}")

    def _tensor_map(self, arg: TensorMapArg, place: str) -> None:
        view = arg.view
        self._need(1 <= len(view.shape) == len(arg.box) <= 5, f"{place}: box {arg.box[:8]} of shape {view.shape}")
        self._need(all(0 < box <= 256 for box in arg.box), f"{place}: box {arg.box}")
        self._need(all(0 < extent <= 1 << 32 for extent in view.shape), f"{place}: shape {view.shape}")
        self._need(view.strides[-1] == 1, f"{place}: innermost stride {view.strides[-1]}")
        typed = arg.element_type in _PADDED if arg.fp4_padded else arg.element_type in _ELEMENTS
        size = 1 if arg.fp4_padded else _ELEMENTS.get(arg.element_type, 0)
        what = f"{place}: element type {arg.element_type} of a tensor map over {view.dtype}"
        self._need(typed and size == view.item_bytes, what)
        steps = [step * view.item_bytes for step in (*view.strides[:-1], view.offset)]
        even = all(step % 16 == 0 and step < _MAX_NUMBER for step in steps)
        self._need(even, f"{place}: offset {view.offset} or strides {view.strides} are no multiples of 16 bytes")
        self._need(self._buffers[view.buffer].alignment >= 16, f"{place}: {view.buffer} is aligned too little")
        row = arg.box[-1] * view.item_bytes // (2 if arg.fp4_padded else 1)
        self._need(arg.swizzle in _SWIZZLES, f"{place}: swizzle {arg.swizzle}")
        fits = (row % 16 == 0 or arg.fp4_padded) and row <= _SWIZZLES[arg.swizzle]
        self._need(fits, f"{place}: rows of {row} bytes in a box with swizzle {arg.swizzle}")
