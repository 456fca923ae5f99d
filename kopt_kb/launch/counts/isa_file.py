"""Scan a file of instructions, text or binary, with progress against the ISA targets."""

from __future__ import annotations

import io
from pathlib import Path

from kopt_kb.analysis.ir.machine.model import IsaScan
from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import open_input, refused
from kopt_kb.launch.compile.disassemble import binary_text

__all__ = ["refuse_source", "scan_file"]

_ELF = b"\x7fELF"
_SOURCES = (".py", ".cu", ".cuh", ".hip", ".toml")


def scan_file(path: str | Path, *, kernel: str = "") -> tuple[IsaScan, ...]:
    """Return one scan for each kernel of a SASS, PTX or AMDGCN text, a cubin or an hsaco.

    Args:
        path: The file; recognised by content.
        kernel: Keep only kernels whose symbol matches this regular expression.

    Raises:
        BadInput: The file is absent or none of these.
        MissingTool: A binary without the disassembler for it.
    """
    refuse_source(path)
    with open_input(path) as stream:
        try:
            if stream.peek(len(_ELF))[: len(_ELF)] == _ELF:
                return scan_text(binary_text(Path(path)), where=str(path), kernel=kernel)
            lines = io.TextIOWrapper(stream, encoding="utf-8", errors="replace")
            return scan_text(lines, where=str(path), kernel=kernel)
        except OSError as error:
            raise refused(error, path) from error


def refuse_source(path: str | Path) -> None:
    """Refuse a kernel's source, or the header of one, where its machine code is wanted; say what reads it.

    Raises:
        BadInput: The file is source by its suffix.
    """
    if Path(path).suffix not in _SOURCES:
        return
    fix = f"kb compile {path} shows its instructions and what fits; kb record keeps its code objects"
    if Path(path).suffix == ".hip":
        fix = "hipcc makes its code object, which is read here (docs/languages.md)"
    raise BadInput("is a kernel's source, no machine code", where=str(path), fix=fix, code="KB116")
