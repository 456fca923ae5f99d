"""Recognise an instruction listing by its content and scan every kernel in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from kopt_kb.analysis.ir.machine.amdgcn import scan_amdgcn
from kopt_kb.analysis.ir.machine.model import Isa, IsaScan, IsaTally
from kopt_kb.analysis.ir.machine.ptx import scan_ptx
from kopt_kb.analysis.ir.machine.sass import scan_sass
from kopt_kb.analysis.ir.machine.targets import Progress
from kopt_kb.analysis.profile.names import kernel_pattern
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire, inside

__all__ = ["JudgedScan", "JudgedScans", "recognise", "scan_text"]

_SCANNERS: dict[Isa, Callable[[Iterator[str]], tuple[str, list[IsaTally]]]] = {
    "sass": scan_sass,
    "ptx": scan_ptx,
    "amdgcn": scan_amdgcn,
}
_SIGNS: tuple[tuple[Isa, re.Pattern[str]], ...] = (
    ("amdgcn", re.compile(r"amdgcn|amdgpu|^\s+(?:s_waitcnt|s_endpgm|s_load_dword|v_mfma_)")),
    ("ptx", re.compile(r"^\s*\.version\s+\d+\.\d+|^\s*\.visible\s+\.entry")),
    ("sass", re.compile(r"EF_CUDA_|^\s*/\*[0-9a-f]{4,}\*/\s+\S|^\s*Function\s*:|Fatbin elf code|^\s*\.section\s+\.nv")),
)
_FEATURE_SUFFIX = re.compile(r"^(sm_\d+)[af]$")
_LOOKED_AT_LINES = 400


@dataclass(frozen=True, slots=True)
class JudgedScan(Wire):
    """A kernel's instructions, and the ISA targets judged against them."""

    WIRE: ClassVar = (*inside("scan", IsaScan), "targets")
    scan: IsaScan
    targets: tuple[Progress, ...]


@dataclass(frozen=True, slots=True)
class JudgedScans(Wire):
    """All kernels of a file."""

    kernels: tuple[JudgedScan, ...]


def recognise(lines: Iterable[str]) -> Isa | None:
    """Return the instruction set of a listing by the first line that gives it away, or None."""
    for line in lines:
        for isa, sign in _SIGNS:
            if sign.search(line):
                return isa
    return None


def scan_text(text: str | Iterable[str], *, where: str = "text", kernel: str = "") -> tuple[IsaScan, ...]:
    """Return one scan for each kernel of a SASS, PTX or AMDGCN listing.

    Args:
        text: The listing, whole or line by line (read once).
        where: Name used in errors, usually the file.
        kernel: Keep only kernels whose symbol matches this regular expression.

    Raises:
        BadInput: The text is none of the three, or holds no instruction of such a kernel.
    """
    lines = iter(text.splitlines()) if isinstance(text, str) else iter(text)
    head = [line for _, line in zip(range(_LOOKED_AT_LINES), lines, strict=False)]
    isa = recognise(head)
    if isa is None:
        raise BadInput(
            "neither SASS, PTX nor AMDGCN text",
            where=where,
            fix="give the output of nvdisasm or cuobjdump -sass, a .ptx file, or LLVM's .s/.amdgcn text",
            code="KB116",
        )
    wanted = kernel_pattern(kernel)
    target, tallies = _SCANNERS[isa](chain(head, lines))
    target = _FEATURE_SUFFIX.sub(r"\1", target)
    scans = tuple(IsaScan.of(tally, isa, target) for tally in tallies if wanted.search(tally.kernel))
    if not scans:
        names = ", ".join(tally.kernel for tally in tallies) or "none"
        raise BadInput(
            f"no instructions of a kernel {kernel!r}", where=where, fix=f"kernels here: {names}", code="KB044"
        )
    return scans
