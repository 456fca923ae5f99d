"""Claims about what of a code object a driver may use: a small ELF file, changed part by part."""

from __future__ import annotations

import struct

import pytest

from kopt_kb.launch.recompile.loadable import difference, loadable

_NAMES = b"\0.text.k\0.debug_line\0.shstrtab\0.extra\0"


def elf(text: bytes = b"code", debug: bytes = b"lines", extra: bytes = b"", flags: int = 6) -> bytes:
    """Return an ELF file with a text section, a debug section, a table of names, and perhaps one more."""
    bodies = [(1, 1, flags, text), (9, 1, 0, debug), (21, 3, 0, _NAMES), *([(31, 1, 2, extra)] if extra else [])]
    at, table, held = 64, [struct.pack("<IIQQQQIIQQ", *[0] * 10)], b""
    for name, kind, own, body in bodies:
        table.append(struct.pack("<IIQQQQIIQQ", name, kind, own, 0, at + len(held), len(body), 0, 0, 1, 0))
        held += body
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, at + len(held), 0x5A, 64, 56,
                                                         0, 64, len(table), 3)  # fmt: skip
    return head + held + b"".join(table)


def test_only_debug_sections_may_differ() -> None:
    """Lines change with the path of a source; what is loaded does not."""
    assert difference(elf(), elf(debug=b"other and longer lines")) == ""
    assert [name for name, _ in loadable(elf())] == ["header", ".text.k"]


@pytest.mark.parametrize(
    ("other", "part"),
    [(elf(text=b"edoc"), ".text.k"), (elf(text=b"code and more"), ".text.k"), (elf(flags=7), ".text.k"),
     (elf(extra=b"data"), "2 parts against 3"), (elf().replace(b"\x5a\0\0\0", b"\x59\0\0\0"), "header")],
)  # fmt: skip
def test_whatever_is_loaded_is_compared(other: bytes, part: str) -> None:
    """Bytes, size, flags, number of sections, and the target in the header."""
    assert difference(elf(), other) == part


@pytest.mark.parametrize("damaged", [b"", b"\x7fELF", elf()[:100], elf()[:-10], b"no object at all" * 20])
def test_a_damaged_file_is_different(damaged: bytes) -> None:
    """And never an exception."""
    assert difference(elf(), damaged).startswith("no whole code object")
