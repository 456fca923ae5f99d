"""PTX: instruction classes of each entry, before ptxas chooses registers and final widths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from kopt_kb.analysis.ir.machine.model import AccessKind, IsaTally, MemorySpace

__all__ = ["scan_ptx"]

_INSTRUCTION = re.compile(r"^\s*\{?\s*(?:@!?%\w+\s+)?([a-z][a-z0-9_]*)((?:(?:\.|::)[A-Za-z0-9_]+)*)\s*([^;]*);")
_KERNEL = re.compile(r"\.entry\s+([\w$]+)|^\s*\.(?:visible\s+)?func\s.*?([\w$]+)\(")
_TARGET = re.compile(r"^\s*\.target\s+(sm_\w+)")
_TYPE = re.compile(r"^(?:b|u|s|f|bf)(\d+)(?:x(\d+))?$")
_IMMEDIATE = re.compile(r"(?:^|,)\s*(0x[0-9a-fA-F]+|\d+)\s*(?=,|$)")
_SPACES: Mapping[str, MemorySpace] = MappingProxyType({"global": "global", "shared": "shared", "local": "local"})
_KINDS: Mapping[str, AccessKind] = MappingProxyType(
    {"ld": "load", "st": "store", "atom": "atomic", "red": "atomic", "ldmatrix": "load", "stmatrix": "store"}
)
_MATRIX: Mapping[str, str] = MappingProxyType(
    {"mma": "mma.sync", "wgmma": "wgmma.mma_async", "wmma": "wmma.mma", "tcgen05": "tcgen05.mma"}
)
_FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "bar": "barrier",
        "barrier": "barrier",
        "mbarrier": "mbarrier",
        "shfl": "shuffle",
        "redux": "warp_reduce",
        "ldmatrix": "ldmatrix",
        "stmatrix": "stmatrix",
        "atom": "atomic",
        "red": "reduction",
        "ex2": "special_function",
        "lg2": "special_function",
        "rcp": "special_function",
        "rsqrt": "special_function",
        "sqrt": "special_function",
        "sin": "special_function",
        "cos": "special_function",
        "tanh": "special_function",
    }
)
_REGISTER_BITS = 32


def scan_ptx(lines: Iterator[str]) -> tuple[str, list[IsaTally]]:
    """Return the target and one tally for each entry and function of a PTX module."""
    target, tallies, current = "", [], IsaTally("")
    for line in lines:
        if header := _KERNEL.search(line):
            current = IsaTally(header[1] or header[2])
            tallies.append(current)
        elif not target and (named := _TARGET.match(line)):
            target = named[1]
        elif found := _INSTRUCTION.match(line):
            modifiers = tuple(part for part in found[2].replace("::", ".").split(".") if part)
            _count(current, found[1], modifiers, found[3])
    return target, [tally for tally in tallies if tally.instructions]


def _count(tally: IsaTally, opcode: str, modifiers: tuple[str, ...], operands: str) -> None:
    tally.instructions += 1
    if opcode in _FEATURES:
        tally.features[_FEATURES[opcode]] += 1
    if opcode == "cp":
        _count_copy(tally, modifiers, operands)
    elif opcode in _MATRIX and any(one.startswith("mma") for one in (opcode, *modifiers)):
        _count_matrix(tally, opcode, modifiers)
    elif opcode in {"ldmatrix", "stmatrix"}:
        count = next((int(one[1:]) for one in modifiers if re.fullmatch(r"x\d", one)), 1)
        tally.add_access("shared", _KINDS[opcode], _REGISTER_BITS * count)
    elif opcode in _KINDS and not {"param", "const"} & set(modifiers):
        space: MemorySpace = next((_SPACES[one] for one in modifiers if one in _SPACES), "generic")
        tally.add_access(space, _KINDS[opcode], _width_bits(modifiers))


def _count_matrix(tally: IsaTally, opcode: str, modifiers: tuple[str, ...]) -> None:
    shape = ".".join(one for one in (opcode, *modifiers) if one not in {"sync", "aligned"})
    tally.add_matrix(_MATRIX[opcode], shape)


def _count_copy(tally: IsaTally, modifiers: tuple[str, ...], operands: str) -> None:
    """Count cp.async (16 or fewer bytes a thread), cp.async.bulk and its tensor (TMA) form."""
    if "bulk" in modifiers:
        if "commit_group" in modifiers or "wait_group" in modifiers:
            tally.features["wait"] += 1
            return
        family = "tma" if "tensor" in modifiers else "bulk"
        tally.features[f"{family}_{_direction(modifiers)}"] += 1
    elif "ca" in modifiers or "cg" in modifiers:
        bytes_ = next((int(number, 0) for number in _IMMEDIATE.findall(operands)), _REGISTER_BITS // 8)
        tally.add_access("global", "copy", 8 * bytes_)
        tally.features["async_copy"] += 1
    elif "wait_group" in modifiers or "wait_all" in modifiers:
        tally.features["wait"] += 1
    elif "commit_group" in modifiers:
        tally.features["async_copy_commit"] += 1


def _direction(modifiers: tuple[str, ...]) -> str:
    """Return load, store, reduce or prefetch: the first space named is the destination."""
    if "prefetch" in modifiers:
        return "prefetch"
    if "reduce" in modifiers:
        return "reduce"
    spaces = [one for one in modifiers if one in {"global", "shared"}]
    return "store" if spaces[:1] == ["global"] else "load"


def _width_bits(modifiers: tuple[str, ...]) -> int:
    """Return lanes of the vector times bits of the type; `.v4.b32` is 128."""
    lanes = next((int(one[1:]) for one in modifiers if one in {"v2", "v4", "v8"}), 1)
    types = [found for one in modifiers if (found := _TYPE.match(one))]
    return lanes * int(types[-1][1]) * int(types[-1][2] or 1) if types else lanes * _REGISTER_BITS
