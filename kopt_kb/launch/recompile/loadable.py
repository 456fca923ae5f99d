"""What of a code object a driver may use: compared, so that only lines and debug information may differ.

Sections are compared in order with their names, types, flags and bytes, symbols by name and value, segments by their
flags and bytes. Left out are sections for debuggers, and tables of names, whose entries are compared where they are
used.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from kopt_kb.launch.cuda.cubin import ElfSection, sections, symbols

__all__ = ["difference", "fingerprint", "loadable"]

_DEBUG = (".debug_", ".nv_debug", ".rel.debug_", ".rela.debug_", ".rel.nv_debug", ".rela.nv_debug", ".comment")
_TABLES = frozenset({".strtab", ".shstrtab", ".symtab", ".dynstr", ".dynsym", ".symtab_shndx"})
_NOBITS, _NULL = 8, 0
_NAMED = frozenset({1, 2})
"""Types of symbols that are compared: variables and functions."""
_SEGMENT = struct.Struct("<IIQQQQQQ")
_PHDR, _MOST_SEGMENTS = 6, 1 << 10


def loadable(code: bytes) -> tuple[tuple[str, str], ...]:
    """Return what a driver may use of an ELF file, each part with its digest.

    Raises:
        ValueError: It is none, or cut short; `struct.error` likewise.
    """
    return tuple((name, hashlib.sha256(body).hexdigest()) for name, body in _parts(code))


def fingerprint(code: bytes) -> str:
    """Return a sha256 that two code objects share where a driver can't tell them apart; of the bytes of no ELF file."""
    try:
        parts = "\n".join(f"{name} {digest}" for name, digest in loadable(code)).encode("utf-8", "surrogateescape")
    except (ValueError, struct.error, IndexError):
        parts = code
    return hashlib.sha256(parts).hexdigest()


def difference(one: bytes, other: bytes) -> str:
    """Return the first part in which two code objects differ; empty when a driver can't tell them apart."""
    if one == other:
        return ""
    try:
        left, right = loadable(one), loadable(other)
    except (ValueError, struct.error, IndexError) as error:
        return f"no whole code object: {error}"
    if left == right:
        return ""
    for here, there in zip(left, right, strict=False):
        if here != there:
            return here[0] if here[0] == there[0] else f"{here[0]} against {there[0]}"
    return f"{len(left)} parts against {len(right)}"


def _parts(code: bytes) -> Iterator[tuple[str, bytes]]:
    yield "header", code[:16] + code[16:24] + code[48:52]  # identification, type, machine, version, flags
    kept: dict[int, str] = {}
    for one in sections(code):
        if one.kind == _NULL or one.name in _TABLES or one.name.startswith(_DEBUG):
            continue
        kept[one.number] = one.name
        yield one.name, struct.pack("<IQQI", one.kind, one.flags, one.size, one.info) + _body(code, one)
    for symbol in symbols(code):
        if symbol.kind in _NAMED or (symbol.section in kept and symbol.kind == 0 and symbol.name):
            place = kept.get(symbol.section, str(min(symbol.section, 1)))
            yield f"symbol {symbol.name}", f"{symbol.kind} {place} {symbol.value} {symbol.size}".encode()
    yield from _segments(code)


def _body(code: bytes, section: ElfSection) -> bytes:
    if section.kind == _NOBITS:
        return b""
    if section.offset + section.size > len(code):
        raise ValueError("a section ends behind the file")
    return code[section.offset : section.offset + section.size]


def _segments(code: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the segments: what they are, and the bytes that they load."""
    (begin,) = struct.unpack_from("<Q", code, 32)
    size, count = struct.unpack_from("<HH", code, 54)
    if not count:
        return
    if size != _SEGMENT.size or count > _MOST_SEGMENTS or begin + size * count > len(code):
        raise ValueError("segments beyond the file")
    for number in range(count):
        kind, flags, offset, _, _, held, memory, alignment = _SEGMENT.unpack_from(code, begin + number * size)
        if kind == _PHDR:
            continue
        if offset + held > len(code):
            raise ValueError("a segment ends behind the file")
        is_table = (offset, held) == (begin, size * count)  # it holds offsets, which debug sections shift
        body = b"" if is_table else code[offset : offset + held]
        yield f"segment {number}", struct.pack("<IIQQQ", kind, flags, held, memory, alignment) + body
