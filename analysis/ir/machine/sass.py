"""SASS as nvdisasm and cuobjdump print it: instruction classes of each kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from kopt_kb.analysis.ir.machine.model import AccessKind, IsaTally, MemorySpace

__all__ = ["scan_sass"]

_INSTRUCTION = re.compile(
    r"^\s*/\*[0-9a-fA-F]{4,}\*/\s*\{?\s*(?:@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9_]*)((?:\.[A-Za-z0-9_]+)*)"
)
_KERNEL = re.compile(r'^\s*\.section\s+\.text\.([^,\s"]+)|^\s*Function\s*:\s*(\S+)')
_TARGET = re.compile(r"EF_CUDA_SM(\d+)|\bsm_(\d+a?f?)\b")
_MATRIX = re.compile(r"^(?:UTC[A-Z0-9]*MMA|[A-Z]G?MMA)$")

_WIDTHS: Mapping[str, int] = MappingProxyType(
    {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "F16": 16, "64": 64, "F64": 64, "128": 128, "256": 256}
)
_REGISTER_BITS = 32

_ACCESSES: Mapping[str, tuple[MemorySpace, AccessKind]] = MappingProxyType(
    {
        "LDG": ("global", "load"),
        "STG": ("global", "store"),
        "LDGSTS": ("global", "copy"),
        "RED": ("global", "atomic"),
        "REDG": ("global", "atomic"),
        "ATOMG": ("global", "atomic"),
        "LDS": ("shared", "load"),
        "STS": ("shared", "store"),
        "LDSM": ("shared", "load"),
        "STSM": ("shared", "store"),
        "ATOMS": ("shared", "atomic"),
        "LDL": ("local", "load"),
        "STL": ("local", "store"),
        "LD": ("generic", "load"),
        "ST": ("generic", "store"),
        "ATOM": ("generic", "atomic"),
        "LDTM": ("tensor", "load"),
        "STTM": ("tensor", "store"),
    }
)
_FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "BAR": "barrier",
        "SYNCS": "mbarrier",
        "SHFL": "shuffle",
        "REDUX": "warp_reduce",
        "CREDUX": "warp_reduce",
        "MUFU": "special_function",
        "DEPBAR": "wait",
        "LDGDEPBAR": "async_copy_commit",
        "LDGSTS": "async_copy",
        "LDSM": "ldmatrix",
        "STSM": "stmatrix",
        "UTMALDG": "tma_load",
        "UTMASTG": "tma_store",
        "UTMAREDG": "tma_reduce",
        "UTMAPF": "tma_prefetch",
        "UBLKCP": "bulk_copy",
        "UBLKRED": "bulk_reduce",
        "UBLKPF": "bulk_prefetch",
        "WARPGROUP": "warpgroup",
        "UTCCP": "tensor_memory_copy",
        "UTCBAR": "tensor_commit",
        "ATOM": "atomic",
        "ATOMG": "atomic",
        "ATOMS": "atomic",
        "RED": "reduction",
        "REDG": "reduction",
    }
)


def scan_sass(lines: Iterator[str]) -> tuple[str, list[IsaTally]]:
    """Return the target and one tally for each kernel section of a SASS listing.

    The target is empty when no line names one. Instructions before any section header belong to a
    kernel without a name.
    """
    target, tallies, current = "", [], None
    for line in lines:
        if match := _INSTRUCTION.match(line):
            if current is None:
                current = IsaTally("")
                tallies.append(current)
            _count(current, match[1], tuple(match[2].split(".")[1:]))
        elif header := _KERNEL.match(line):
            current = IsaTally(header[1] or header[2])
            tallies.append(current)
        elif not target and (named := _TARGET.search(line)):
            target = f"sm_{named[1] or named[2]}"
    return target, [tally for tally in tallies if tally.instructions]


def _count(tally: IsaTally, opcode: str, modifiers: tuple[str, ...]) -> None:
    tally.instructions += 1
    if _MATRIX.match(opcode):
        tally.add_matrix(opcode, ".".join((opcode, *modifiers)))
    if opcode in _ACCESSES:
        space, kind = _ACCESSES[opcode]
        tally.add_access(space, kind, _width_bits(opcode, modifiers))
    if opcode in _FEATURES:
        tally.features[_FEATURES[opcode]] += 1


def _width_bits(opcode: str, modifiers: tuple[str, ...]) -> int:
    """Read the width from whole modifiers in any order; LTC128B is a prefetch size, not a width."""
    if opcode in {"LDSM", "STSM"}:
        return _REGISTER_BITS * _matrices(modifiers)
    if opcode in {"LDTM", "STTM"}:
        repeats = [int(one[1:]) for one in modifiers if re.fullmatch(r"x\d+", one)]
        return _REGISTER_BITS * (repeats[0] if repeats else 1)
    return next((_WIDTHS[one] for one in modifiers if one in _WIDTHS), _REGISTER_BITS)


def _matrices(modifiers: tuple[str, ...]) -> int:
    """Return how many 8x8 matrices an ldmatrix moves: 1, 2 or 4 as the last number, 1 when not written."""
    last = modifiers[-1] if modifiers else ""
    return int(last) if last in {"2", "4"} else 1
