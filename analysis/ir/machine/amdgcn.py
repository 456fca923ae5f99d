"""AMDGCN assembly of LLVM, and llvm-objdump listings: instruction classes of each kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kopt_kb.analysis.ir.machine.amd_resources import ResourceReader
from kopt_kb.analysis.ir.machine.model import AccessKind, IsaTally, MemorySpace

__all__ = ["scan_amdgcn"]

_INSTRUCTION = re.compile(r"^\s+((?:v|s|ds|buffer|tbuffer|global|flat|scratch|image|exp)_[a-z0-9_]+)\b(.*)$")
_LABEL = re.compile(r"^(?:[0-9a-f]{8,}\s+<([^>]+)>:|([A-Za-z_$][\w$.]*):)")
_TARGET = re.compile(r"(?:amdhsa--|--)(gfx\w+)|\.amdgcn_target.*?(gfx\w+)")
_MEMORY = re.compile(r"^(?:t?buffer|global|flat|scratch)_(load|store|atomic)_(lds_)?(\w+)$")
_LDS = re.compile(r"^ds_(read|load|write|store)(2st64|2|_addtid)?_([a-z]+\d*)")
_SPACES: dict[str, MemorySpace] = {
    "buffer": "global",
    "tbuffer": "global",
    "global": "global",
    "flat": "generic",
    "scratch": "local",
}
_KINDS: dict[str, AccessKind] = {
    "load": "load",
    "read": "load",
    "store": "store",
    "write": "store",
    "atomic": "atomic",
}
_DWORD_BITS = 32

_FEATURES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"^ds_b?permute_|^ds_swizzle_|^v_permlane|_dpp$|^v_readlane|^v_readfirstlane", "shuffle"),
        (r"^ds_bpermute_", "bpermute"),
        (r"^s_barrier", "barrier"),
        (r"^s_wait", "wait"),
        (r"^v_accvgpr_", "accvgpr_move"),
        (r"^v_(?:exp|log|rcp|rsq|sqrt|sin|cos)_", "special_function"),
        (r"^(?:buffer|global|flat|ds)_atomic_|^ds_(?:add|sub|min|max|and|or|xor|cmpst|inc|dec|wrxchg)_", "atomic"),
        (r"^ds_(?:read|load)_[a-z0-9]+_tr_", "transposed_read"),
        (r"^scratch_", "scratch"),
    )
)


def scan_amdgcn(lines: Iterator[str]) -> tuple[str, list[IsaTally]]:
    """Return the target and one tally for each function of the text, with its resources where given."""
    target, tallies, current, resources = "", [], IsaTally(""), ResourceReader()
    for line in lines:
        if found := _INSTRUCTION.match(line):
            _count(current, found[1], found[2])
            continue
        if label := _LABEL.match(line):
            current = IsaTally(label[1] or label[2])
            tallies.append(current)
        elif not target and (named := _TARGET.search(line)):
            target = named[1] or named[2]
        resources.read(line)
    kernels = [tally for tally in tallies if tally.instructions]
    for tally in kernels:
        tally.resources = resources.of(tally.kernel)
    return target, kernels


def _count(tally: IsaTally, opcode: str, rest: str) -> None:
    tally.instructions += 1
    if opcode.startswith(("v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_")):
        tally.add_matrix(opcode.split("_")[1].upper(), opcode.removesuffix("_e64"))
    elif memory := _MEMORY.match(opcode):
        _count_memory(tally, opcode, memory, rest)
    elif lds := _LDS.match(opcode):
        pair = 2 if lds[2] and lds[2].startswith("2") else 1
        tally.add_access("shared", _KINDS[lds[1]], pair * _width_bits(lds[3]))
    elif opcode.startswith(("s_load_", "s_buffer_load_")):
        tally.add_access("scalar", "load", _width_bits(opcode.rsplit("_", 1)[1]))
    for pattern, name in _FEATURES:
        if pattern.search(opcode):
            tally.features[name] += 1


def _count_memory(tally: IsaTally, opcode: str, memory: re.Match[str], rest: str) -> None:
    """Count a vector memory access; one that LLVM marks as spill code is private memory (gfx90a buffers)."""
    space, kind = _SPACES[opcode.split("_", 1)[0]], _KINDS[memory[1]]
    folded = "Folded Spill" in rest or "Folded Reload" in rest
    operands = rest.split(";", 1)[0].split("//", 1)[0]
    if kind == "load" and (memory[2] or operands.rstrip().endswith(" lds")):
        kind = "copy"
        tally.features["async_copy"] += 1
    if folded:
        space = "local"
        tally.features["spill_store" if kind == "store" else "spill_load"] += 1
    tally.add_access(space, kind, _width_bits(memory[3]))


def _width_bits(suffix: str) -> int:
    """Return the bits a lane moves: dwordx4 and b128 are 128, ushort and u16 are 16, plain dword is 32."""
    if match := re.match(r"dwordx(\d+)", suffix):
        return _DWORD_BITS * int(match[1])
    if re.match(r"[us]?byte", suffix):
        return 8
    if re.match(r"[us]?short", suffix):
        return 16
    if match := re.match(r"format_(?:d16_)?([xyzw]+)", suffix):
        return _DWORD_BITS * len(match[1])
    if suffix.startswith("dword"):
        return _DWORD_BITS
    match = re.search(r"(?:^|_)(?:b|u|i|f|bf)(\d+)", suffix)
    return int(match[1]) if match else _DWORD_BITS
