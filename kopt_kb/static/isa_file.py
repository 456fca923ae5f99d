"""Scan a file of instructions, text or binary, with progress against the ISA targets."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.isa.model import IsaScan
from kopt_kb.analysis.isa.scan import scan_text
from kopt_kb.errors import BadInput
from kopt_kb.kernels.compile.disassemble import binary_text

__all__ = ["scan_file"]

_ELF = b"\x7fELF"


def scan_file(path: str | Path, *, kernel: str = "") -> tuple[IsaScan, ...]:
    """Return one scan for each kernel of a SASS, PTX or AMDGCN text, a cubin or an hsaco.

    Args:
        path: The file; recognised by content.
        kernel: Keep only kernels whose symbol contains this.

    Raises:
        BadInput: The file is absent or none of these.
        MissingTool: A binary without the disassembler for it.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            binary = stream.read(len(_ELF)) == _ELF
        if binary:
            return scan_text(binary_text(file), where=str(path), kernel=kernel)
        with file.open(encoding="utf-8", errors="replace") as lines:
            return scan_text(lines, where=str(path), kernel=kernel)
    except OSError as error:
        raise BadInput(error.strerror or "can't be read", where=str(path), code="KB111") from error
