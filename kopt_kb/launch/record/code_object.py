"""What an AMD code object says of itself: registers, LDS, parameters of its kernels, and the memory that is its own.

Read from the ELF file alone: its architecture from `e_flags`, everything about kernels from the MessagePack document in
the note of type NT_AMDGPU_METADATA, as LLVM's "User Guide for AMDGPU Backend" describes them (ELF Header, Note Records,
Code Object V3 Metadata to V5). Symbols come from the dynamic table, which is what a loader sees.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JsonMap
from kopt_kb.launch.cuda.cubin import OwnMemory

__all__ = ["MACHINE", "AmdEntry", "CodeObject", "is_code_object", "processor_of", "read_code_object", "resource_text"]

MACHINE = 224
"""EM_AMDGPU."""

_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
_WRITE, _ALLOC, _NOBITS, _NOTE, _DYNSYM, _OBJECT, _FUNCTION = 1, 2, 8, 7, 11, 1, 2
_METADATA = 32
"""NT_AMDGPU_METADATA."""
_MAX_SECTIONS, _DEEPEST = 1 << 12, 16
_MACHINES = {
    0x02C: "gfx900", 0x02F: "gfx906", 0x030: "gfx908", 0x03F: "gfx90a", 0x04C: "gfx942", 0x04F: "gfx950",
    0x033: "gfx1010", 0x036: "gfx1030", 0x041: "gfx1100", 0x046: "gfx1101", 0x047: "gfx1102", 0x044: "gfx1103",
    0x043: "gfx1150", 0x04A: "gfx1151", 0x048: "gfx1200", 0x04E: "gfx1201",
}  # fmt: skip
"""EF_AMDGPU_MACH, the low byte of `e_flags` → processor (LLVM, AMDGPUUsage, table of `EF_AMDGPU_MACH` values)."""

_ONE_FILE = frozenset({"gfx90a", "gfx942", "gfx950"})
"""Processors whose `.vgpr_count` holds the accumulation registers too: both lie in one register file."""


@dataclass(frozen=True, slots=True)
class AmdEntry:
    """One kernel of a code object.

    Attributes:
        name: Its symbol, without `.kd`.
        vgprs: Vector registers of a lane, without accumulation registers.
        agprs: Accumulation registers of a lane.
        sgprs: Scalar registers of a wave.
        vgpr_spills: Vector registers that were spilled.
        sgpr_spills: Scalar registers that were spilled.
        scratch_bytes: Private memory of a lane.
        lds_bytes: LDS of a workgroup that is known when it is compiled.
        wave_size: Lanes of a wave.
        most_threads: Work-items of a workgroup at most; 0 when unsaid.
        parameters: Size in bytes of each parameter that the caller gives, in order.
        kernarg_bytes: All of its arguments, those that the runtime adds too.
    """

    name: str
    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    scratch_bytes: int
    lds_bytes: int
    wave_size: int
    most_threads: int
    parameters: tuple[int, ...]
    kernarg_bytes: int


@dataclass(frozen=True, slots=True)
class CodeObject:
    """The kernels of a code object by symbol, its processor, its own memory, and functions that it does not hold."""

    target: str
    entries: Mapping[str, AmdEntry]
    memory: tuple[OwnMemory, ...]
    imports: tuple[str, ...] = ()


def is_code_object(code: bytes) -> bool:
    """Return whether bytes begin as an ELF file for an AMD GPU."""
    return code[:6] == b"\x7fELF\x02\x01" and code[18:20] == MACHINE.to_bytes(2, "little")


def processor_of(code: bytes) -> str:
    """Return the processor that a code object is for; empty for one that is not known here."""
    return _MACHINES.get(int.from_bytes(code[48:52], "little") & 0xFF, "")


def read_code_object(code: bytes, where: str = "code object") -> CodeObject:
    """Return what a code object says; raises `BadInput` for a file that is none, or cut short."""
    try:
        return _Reader(code).whole()
    except (struct.error, IndexError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        what = f"no whole AMD code object: {str(error) or type(error).__name__}"
        raise BadInput(what, where=where, fix="compile it again", code="KB083") from error


def resource_text(said: CodeObject) -> str:
    """Return what a code object says of its kernels as LLVM prints it behind the assembly text."""
    lines = [f"# amdgcn-amd-amdhsa--{said.target}"]
    for entry in said.entries.values():
        lines += [
            f"  - .agpr_count: {entry.agprs}", f"    .vgpr_count: {entry.vgprs + entry.agprs}",
            f"    .sgpr_count: {entry.sgprs}", f"    .vgpr_spill_count: {entry.vgpr_spills}",
            f"    .sgpr_spill_count: {entry.sgpr_spills}", f"    .group_segment_fixed_size: {entry.lds_bytes}",
            f"    .private_segment_fixed_size: {entry.scratch_bytes}", f"    .symbol: '{entry.name}.kd'",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


class _Reader:
    def __init__(self, code: bytes) -> None:
        if not is_code_object(code):
            raise ValueError("no ELF file for an AMD GPU")
        self._code = code
        (begin,) = struct.unpack_from("<Q", code, 40)
        size, count, names = struct.unpack_from("<HHH", code, 58)
        if count > _MAX_SECTIONS or begin + size * count > len(code) or size != _SECTION.size:
            raise ValueError("sections beyond the file")
        self._sections = [_SECTION.unpack_from(code, begin + number * size) for number in range(count)]
        self._names = self._bytes(self._sections[names])

    def _bytes(self, section: tuple[int, ...]) -> bytes:
        offset, size = section[4], section[5]
        if offset + size > len(self._code):
            raise ValueError("a section ends behind the file")
        return self._code[offset : offset + size]

    def whole(self) -> CodeObject:
        target = processor_of(self._code)
        if not target:
            raise ValueError(f"processor {self._code[48]:#x} is not known")
        said = self._metadata().get("amdhsa.kernels", [])
        entries = {one.name: one for one in (_entry(kernel, target) for kernel in said)}
        symbols = self._symbols()
        memory = tuple(self._memory(number, symbols) for number in range(len(self._sections)) if self._is_own(number))
        missing = {name for name, _, section, _, _ in symbols if name and not section}
        return CodeObject(target, entries, memory, tuple(sorted(missing)))

    def _metadata(self) -> JsonMap:
        for section in self._sections:
            if section[1] != _NOTE:
                continue
            body, at = self._bytes(section), 0
            while at + 12 <= len(body):
                named, size, kind = struct.unpack_from("<III", body, at)
                first = at + 12 + (named + 3 & ~3)
                if kind == _METADATA and body[at + 12 : at + 12 + named].rstrip(b"\0") == b"AMDGPU":
                    if first + size > len(body):
                        raise ValueError("a note ends behind its section")
                    found = _Packed(body[first : first + size]).value()
                    if isinstance(found, dict):
                        return found
                at = first + (size + 3 & ~3)
        raise ValueError("it has no note on its kernels")

    def _symbols(self) -> list[tuple[str, int, int, int, int]]:
        """Return name, type, section, address and size of each symbol that a loader sees."""
        for one in self._sections:
            if one[1] == _DYNSYM:
                names = self._bytes(self._sections[one[6]])
                return [(_text(names, name), info & 0xF, section, value, size)
                        for name, info, _, section, value, size in _SYMBOL.iter_unpack(self._bytes(one))]  # fmt: skip
        return []

    def _is_own(self, number: int) -> bool:
        """Return whether kernels may write a section and find there what another launch left."""
        name, kind, flags = _text(self._names, self._sections[number][0]), *self._sections[number][1:3]
        kept = flags & (_WRITE | _ALLOC) == _WRITE | _ALLOC and self._sections[number][5]
        return bool(kept and kind in {1, _NOBITS} and not name.startswith((".dynamic", ".relro_padding", ".got")))

    def _memory(self, number: int, symbols: list[tuple[str, int, int, int, int]]) -> OwnMemory:
        one = self._sections[number]
        image = bytes(one[5]) if one[1] == _NOBITS else self._bytes(one)
        inside = {
            name: (value - one[3], size)
            for name, kind, section, value, size in symbols
            if kind == _OBJECT and section == number and name
        }
        return OwnMemory(_text(self._names, one[0]), image, inside)


def _entry(said: JsonMap, target: str) -> AmdEntry:
    given = [one for one in said.get(".args", ()) if not str(one[".value_kind"]).startswith("hidden_")]
    sizes = tuple(int(one[".size"]) for one in sorted(given, key=lambda one: int(one[".offset"])))

    def number(name: str) -> int:
        return int(said.get(name, 0))

    agprs = number(".agpr_count")
    return AmdEntry(
        name=str(said.get(".symbol", said[".name"])).removesuffix(".kd"),
        vgprs=number(".vgpr_count") - (agprs if target in _ONE_FILE else 0),
        agprs=agprs,
        sgprs=number(".sgpr_count"),
        vgpr_spills=number(".vgpr_spill_count"),
        sgpr_spills=number(".sgpr_spill_count"),
        scratch_bytes=number(".private_segment_fixed_size"),
        lds_bytes=number(".group_segment_fixed_size"),
        wave_size=number(".wavefront_size"),
        most_threads=number(".max_flat_workgroup_size"),
        parameters=sizes,
        kernarg_bytes=number(".kernarg_segment_size"),
    )


class _Packed:
    """Reads a MessagePack document of maps, lists, texts, whole numbers and truth values (msgpack/spec.md)."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def _take(self, size: int) -> bytes:
        if self._at + size > len(self._body):
            raise ValueError("a note is cut short")
        self._at += size
        return self._body[self._at - size : self._at]

    def _number(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self._take(size), "big", signed=signed)

    def value(self, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise ValueError("a note is too deep")
        first = self._number(1)
        high, low = divmod(first, 16)
        if high < 8 or high > 13:
            return first if high < 8 else first - 256
        if high in {8, 9}:
            return self._many(low, depth, pairs=high == 8)
        if high in {10, 11}:
            return self._take(first & 31).decode()
        return self._wide(high == 13, low, depth)

    def _wide(self, upper: bool, low: int, depth: int) -> Any:
        """Return a value whose first byte is 0xC. or 0xD.: a constant, or one whose size, or number, follows."""
        if not upper and low in {0, 2, 3}:
            return {0: None, 2: False, 3: True}[low]
        if low < 4 if upper else low >= 12:
            return self._number(1 << (low & 3), signed=upper)
        if upper and 9 <= low <= 11:
            return self._take(self._number(1 << low - 9)).decode()
        if upper and low >= 12:
            return self._many(self._number(2 << (low & 1)), depth, pairs=low >= 14)
        raise ValueError(f"a note has a value of kind {'cd'[upper]}{low:x}")

    def _many(self, count: int, depth: int, *, pairs: bool) -> Any:
        if count > len(self._body):
            raise ValueError("a note is cut short")
        if pairs:
            return {str(self.value(depth + 1)): self.value(depth + 1) for _ in range(count)}
        return [self.value(depth + 1) for _ in range(count)]


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode()
