"""What a cubin says of itself: registers, shared memory, parameters of its kernels, and the memory that is its own.

Read from the ELF file alone. Names and sizes of `.nv.info` attributes follow what nvdisasm and `ptxas -v` print for
files of CUDA 12.8 (ABI version 7) and 13 (ABI version 8).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kopt_kb.base.errors import BadInput

__all__ = [
    "Cubin",
    "CubinKernel",
    "ElfSection",
    "ElfSymbol",
    "OwnMemory",
    "exported",
    "host_sections",
    "read_cubin",
    "sections",
    "symbols",
]

_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
_WRITE, _ALLOC, _NOBITS, _OBJECT, _GLOBAL = 1, 2, 8, 1, 1
_FUNCTION, _ASSERT = 2, "__assertfail"
"""Type of a symbol; an assertion that fails is an error of the launch, and tells the host nothing else."""
_SYSTEM_RESERVE_BYTES = 1 << 10
"""Shared memory that the system keeps of each block from sm_90 on; sections of such files count it in."""

_CONSTANTS = ".nv.constant3"
"""Bank of a file's `__constant__` variables; banks of parameters and of the compiler's own constants have others."""

_HOST = 0x70000087
"""Type of a section of x86 or ARM code beside the kernels, as some assemblers write it (`.nv.host`)."""

_MAX_SECTIONS = 1 << 16
_SIZED = 4
"""Format of an attribute whose bytes follow; others are one half-word."""

_MAX_THREADS, _PARAMETER, _FRAME, _REGISTERS, _REQUIRED_THREADS, _CLUSTER, _BARRIERS = (
    0x05, 0x17, 0x11, 0x2F, 0x10, 0x3D, 0x4C,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CubinKernel:
    """One kernel of a cubin.

    Attributes:
        name: Its symbol.
        registers: Registers of a thread.
        stack_bytes: Local memory of a thread.
        shared_bytes: Static shared memory of a block, the system's reserve left out.
        barriers: Named barriers.
        parameters: Size of each parameter in bytes, in order.
        most_threads: Threads of a block it was compiled for at most, and exactly where `required`; 0 when unsaid.
        required: Whether a block has exactly those threads.
        cluster: Blocks of a cluster along x, y, z that it was compiled for; all 1 when unsaid.
        offsets: Where in the block of parameters each begins, in bytes.
    """

    name: str
    registers: int = 0
    stack_bytes: int = 0
    shared_bytes: int = 0
    barriers: int = 0
    parameters: tuple[int, ...] = ()
    most_threads: int = 0
    required: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnMemory:
    """A section of memory that lives as long as the loaded code object and that its kernels may write.

    Attributes:
        section: Its name in the file; `__constant__` variables lie in `.nv.constant3`.
        image: What it holds when it is loaded.
        symbols: Variable → its offset and size in bytes.
    """

    section: str
    image: bytes
    symbols: Mapping[str, tuple[int, int]]

    @property
    def constant(self) -> bool:
        """Whether no store instruction is meant for it: only a kernel that knows its address writes there."""
        return self.section == _CONSTANTS


@dataclass(frozen=True, slots=True)
class Cubin:
    """The kernels of a code object by symbol, its own memory, and functions it calls that it does not hold."""

    entries: Mapping[str, CubinKernel]
    memory: tuple[OwnMemory, ...]
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section of an ELF file: its place and size in bytes, its number, and what it says of others."""

    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    number: int


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A symbol of an ELF file: its type, the section it lies in, where in that, and its size in bytes."""

    name: str
    kind: int
    section: int
    value: int
    size: int


@dataclass(slots=True)
class _Found:
    """What attributes say of one kernel while a file is read."""

    numbers: dict[int, int] = field(default_factory=dict)
    parameters: dict[int, tuple[int, int]] = field(default_factory=dict)
    threads: tuple[int, bool] = (0, False)
    cluster: tuple[int, int, int] = (1, 1, 1)


def read_cubin(code: bytes, where: str = "cubin") -> Cubin:
    """Return what a cubin says; raises `BadInput` for a file that is none, or cut short."""
    try:
        return _Reader(code).cubin()
    except (struct.error, IndexError, ValueError, UnicodeDecodeError) as error:
        raise BadInput("no whole cubin", where=where, fix="compile it again", code="KB083") from error


def sections(code: bytes) -> list[ElfSection]:
    """Return the sections of an ELF file in order; raises ValueError or struct.error for one that is none."""
    return _Reader(code).sections


def host_sections(code: bytes) -> list[ElfSection]:
    """Return the sections with code that a driver runs in the process that loads or launches; most files have none."""
    return [one for one in sections(code) if one.size and (one.kind == _HOST or one.name.endswith("nv.host"))]


def symbols(code: bytes) -> list[ElfSymbol]:
    """Return the symbols of an ELF file; raises ValueError or struct.error for one that is none."""
    return [ElfSymbol(*one) for one in _Reader(code)._symbols()]


def exported(code: bytes) -> bytes:
    """Return a cubin whose variables all have names that others see, local ones of a file too; else byte for byte."""
    reader, changed = _Reader(code), bytearray(code)
    own = {one.number for one in reader.sections if _is_own(one)}
    for table in (one for one in reader.sections if one.name == ".symtab"):
        for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
            _, info, _, section, _, _ = _SYMBOL.unpack_from(code, at)
            if section in own and info & 0xF == _OBJECT:
                changed[at + 4] = _GLOBAL << 4 | _OBJECT
    return bytes(changed)


class _Reader:
    def __init__(self, code: bytes) -> None:
        if code[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit little-endian ELF file")
        self._code = code
        (begin,) = struct.unpack_from("<Q", code, 40)
        size, count, names = struct.unpack_from("<HHH", code, 58)
        if count > _MAX_SECTIONS or begin + size * count > len(code):
            raise ValueError("sections beyond the file")
        raw = [_SECTION.unpack_from(code, begin + number * size) for number in range(count)]
        strings = self._bytes(raw[names][4], raw[names][5])
        self.sections = [
            ElfSection(_text(strings, one[0]), one[1], one[2], one[4], one[5], one[6], one[7], number)
            for number, one in enumerate(raw)
        ]

    def _bytes(self, offset: int, size: int) -> bytes:
        if offset + size > len(self._code):
            raise ValueError("a section ends behind the file")
        return self._code[offset : offset + size]

    def _symbols(self) -> list[tuple[str, int, int, int, int]]:
        """Return name, type, section, value and size of each symbol."""
        for one in self.sections:
            if one.name == ".symtab":
                table, strings = self._bytes(one.offset, one.size), self.sections[one.link]
                names = self._bytes(strings.offset, strings.size)
                return [(_text(names, name), info & 0xF, section, value, size)
                        for name, info, _, section, value, size in _SYMBOL.iter_unpack(table)]  # fmt: skip
        return []

    def cubin(self) -> Cubin:
        symbols = self._symbols()
        found = {one.name.removeprefix(".text."): _Found() for one in self.sections if one.name.startswith(".text.")}
        for one in self.sections:
            if one.name == ".nv.info":
                self._of_file(one, symbols, found)
            elif (name := one.name.removeprefix(".nv.info.")) in found:
                self._of_kernel(one, found[name])
        kernels = {name: self._entry(name, said) for name, said in found.items() if self._has(f".nv.info.{name}")}
        memory = tuple(self._memory(one, symbols) for one in self.sections if _is_own(one))
        calls = {name for name, kind, section, _, _ in symbols if kind == _FUNCTION and not section and name}
        return Cubin(kernels, memory, tuple(sorted(calls - {_ASSERT})))

    def _has(self, name: str) -> bool:
        return any(one.name == name for one in self.sections)

    def _of_file(
        self, section: ElfSection, symbols: list[tuple[str, int, int, int, int]], found: dict[str, _Found]
    ) -> None:
        for attribute, body, _ in self._attributes(section):
            if attribute in {_REGISTERS, _FRAME} and len(body) == 8:
                symbol, value = struct.unpack("<II", body)
                if symbols[symbol][0] in found:
                    found[symbols[symbol][0]].numbers[attribute] = value

    def _of_kernel(self, section: ElfSection, said: _Found) -> None:
        for attribute, body, value in self._attributes(section):
            if attribute == _PARAMETER:
                _, ordinal, offset, packed = struct.unpack("<IHHI", body)
                said.parameters[ordinal] = packed >> 18, offset
            elif attribute in {_MAX_THREADS, _REQUIRED_THREADS}:
                x, y, z = struct.unpack("<III", body)
                said.threads = (x * y * z, attribute == _REQUIRED_THREADS or said.threads[1])
            elif attribute == _CLUSTER:
                said.cluster = struct.unpack("<III", body)
            elif attribute == _BARRIERS:
                said.numbers[_BARRIERS] = value & 0xFF

    def _attributes(self, section: ElfSection) -> Iterator[tuple[int, bytes, int]]:
        """Yield number, bytes and half-word of each attribute of an information section."""
        body, at = self._bytes(section.offset, section.size), 0
        while at < len(body):
            form, attribute, value = struct.unpack_from("<BBH", body, at)
            at += 4
            size = value if form == _SIZED else 0
            yield attribute, body[at : at + size], value
            at += size

    def _entry(self, name: str, said: _Found) -> CubinKernel:
        text = next(one for one in self.sections if one.name == f".text.{name}")
        shared = sum(one.size for one in self.sections if one.name == f".nv.shared.{name}")
        reserved = _SYSTEM_RESERVE_BYTES if self._has(".nv.shared.reserved.0") else 0
        barriers = text.flags >> 20 & 0x7F  # ABI version 7 keeps them here, 8 in an attribute
        return CubinKernel(
            name, said.numbers.get(_REGISTERS, text.info >> 24), said.numbers.get(_FRAME, 0),
            max(shared - reserved, 0), said.numbers.get(_BARRIERS, barriers),
            tuple(said.parameters[at][0] for at in sorted(said.parameters)), *said.threads, said.cluster,
            tuple(said.parameters[at][1] for at in sorted(said.parameters)),
        )  # fmt: skip

    def _memory(self, one: ElfSection, symbols: list[tuple[str, int, int, int, int]]) -> OwnMemory:
        image = bytes(one.size) if one.kind == _NOBITS else self._bytes(one.offset, one.size)
        inside = {
            name: (value, size)
            for name, kind, section, value, size in symbols
            if kind == _OBJECT and section == one.number and name
        }
        return OwnMemory(one.name, image, inside)


def _is_own(section: ElfSection) -> bool:
    """Return whether a section is memory that kernels may write and that outlives a launch.

    Shared and local memory do not; what is marked for the compiler alone (`.nv.merc`) is loaded nowhere.
    """
    kept = section.flags & (_WRITE | _ALLOC) == _WRITE | _ALLOC or section.name == _CONSTANTS
    return bool(kept and section.size and not section.name.startswith((".nv.shared", ".nv.local", ".nv.merc")))


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("ascii")
