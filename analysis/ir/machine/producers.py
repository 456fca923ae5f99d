"""From an instruction that waits back to the one it waits for, through registers, wait counts and barriers.

SASS: an operand of the waiting instruction was written by an operation of unknown latency (memory, special function).
AMDGCN: a wait count names how many operations may be outstanding, so that the first one too many is waited for. A
listing is in the order of addresses; what is not found before an instruction is looked for behind it, as in a loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

__all__ = ["Listing", "producer_of"]

Listing = Sequence[str]
"""Instructions in the order of their addresses."""

_SASS = re.compile(
    r"^\s*(?:@!?U?P[0-9T]+\s+)?(?P<opcode>[A-Z][A-Z0-9_]*)(?P<modifiers>(?:\.[A-Za-z0-9_]+)*)\s*(?P<rest>.*)$"
)
_REGISTER = re.compile(r"\b(?P<file>U?R)(?P<number>\d+)(?P<wide>\.64)?")
_VARIABLE = re.compile(
    r"^(?:LD[A-Z]*|ATOM[A-Z]*|TEX|TLD4?|SULD|MUFU|S2U?R|SHFL|F2F|F2I|I2F|[A-Z]G?MMA|UTC[A-Z0-9]*|REDUX)$"
)
_NO_RESULT = re.compile(
    r"^(?:ST[A-Z]*|RED[A-Z]?|BAR|BRA|EXIT|RET|NOP|LDGSTS|LDGDEPBAR|DEPBAR|UTMA[A-Z]*|SYNCS|MEMBAR|ERRBAR)$"
)
_WIDTHS = {"64": 2, "128": 4, "WIDE": 2}
_ASYNC = re.compile(r"^(?:LDGSTS|UBLKCP|UTMALDG)$")
_BEFORE = {"barrier": re.compile(r"^BAR$"), "drain": re.compile(r"^(?:ST[A-Z]*|RED[A-Z]?)$"),
           "membar": re.compile(r"^MEMBAR$"), "gmma": re.compile(r"^[A-Z]GMMA$")}  # fmt: skip
_SCOREBOARDS = frozenset({"long_scoreboard", "short_scoreboard"})
_WAITS_FOR_COPIES = re.compile(r"^(?:DEPBAR|SYNCS)$")

_WAITCNT = re.compile(r"\b(?P<counter>vmcnt|lgkmcnt|loadcnt|storecnt|dscnt|kmcnt)\((?P<left>\d+)\)|"
                      r"^s_wait_(?P<named>loadcnt|storecnt|dscnt|kmcnt)\s+(?P<value>0x[0-9a-f]+|\d+)")  # fmt: skip
_VECTOR_MEMORY = r"(?:global|flat|buffer|scratch|image|tbuffer)_"
_COUNTED = {
    "vmcnt": re.compile(rf"^{_VECTOR_MEMORY}(?!\w*(?:wbl2|inv))"),
    "loadcnt": re.compile(rf"^{_VECTOR_MEMORY}\w*(?:load|atomic)"),
    "storecnt": re.compile(rf"^{_VECTOR_MEMORY}\w*store"),
    "lgkmcnt": re.compile(r"^(?:ds_|s_(?:buffer_)?load|s_memtime|flat_)"),
    "dscnt": re.compile(r"^ds_"),
    "kmcnt": re.compile(r"^s_(?:buffer_)?load"),
}


def producer_of(listing: Listing, at: int, reason: str = "") -> int | None:
    """Return the index of the instruction that one waits for; itself for a barrier; None when nothing shows it.

    Args:
        listing: SASS or AMDGCN instructions in the order of their addresses.
        at: Index of the waiting instruction.
        reason: Stall reason of the profiler; empty when it tells none. Fixed latencies have no producer.
    """
    if reason in _BEFORE:
        return _last(listing, at, lambda one: _opcode_is(one, _BEFORE[reason]))
    if reason and reason not in _SCOREBOARDS:
        return None
    text = listing[at].strip()
    match = _SASS.match(text)
    if match is None:
        return _amdgcn(listing, at, text)
    opcode = match["opcode"]
    if opcode in {"BAR", "MEMBAR"}:
        return at
    if _WAITS_FOR_COPIES.match(opcode):
        return _last(listing, at, lambda one: _opcode_is(one, _ASYNC))
    wanted = _read(match)
    return None if not wanted else _writer(listing, at, wanted)


def _backwards(size: int, at: int) -> Iterator[int]:
    yield from range(at - 1, -1, -1)
    yield from range(size - 1, at - 1, -1)


def _last(listing: Listing, at: int, fits: Callable[[str], bool]) -> int | None:
    return next((one for one in _backwards(len(listing), at) if fits(listing[one])), None)


def _opcode_is(text: str, pattern: re.Pattern[str]) -> bool:
    match = _SASS.match(text.strip())
    return match is not None and pattern.match(match["opcode"]) is not None


def _operands(match: re.Match[str]) -> list[str]:
    return [one.strip() for one in match["rest"].split(",")]


def _registers(text: str, width: int = 1) -> set[tuple[str, int]]:
    """Return the 32-bit registers that a text names; `.64` is a pair, a memory address without it is one."""
    found: set[tuple[str, int]] = set()
    for one in _REGISTER.finditer(text):
        count = max(width, 2 if one["wide"] else 1)
        found |= {(one["file"], int(one["number"]) + step) for step in range(count)}
    return found


def _width(match: re.Match[str]) -> int:
    modifiers = match["modifiers"].split(".")
    if match["opcode"].endswith("MMA"):
        return 4
    wide = max((_WIDTHS.get(one, 1) for one in modifiers), default=1)
    return max(wide, 2 if match["opcode"].startswith("D") and match["opcode"] != "DEPBAR" else 1)


def _read(match: re.Match[str]) -> set[tuple[str, int]]:
    """Return the registers an instruction reads: all operands but the result; a store's data has its width."""
    operands = _operands(match)
    stores = _NO_RESULT.match(match["opcode"]) is not None
    width = _width(match) if match["opcode"].endswith("MMA") or stores or match["opcode"].startswith("D") else 1
    return set().union(*(_registers(one, 1 if "[" in one else width) for one in (operands if stores else operands[1:])))


def _written(match: re.Match[str]) -> set[tuple[str, int]]:
    if _NO_RESULT.match(match["opcode"]):
        return set()
    return _registers(_operands(match)[0], _width(match))


def _writer(listing: Listing, at: int, wanted: set[tuple[str, int]]) -> int | None:
    """Return the operation of unknown latency that wrote a register last; one of known latency hides older ones."""
    open_registers = set(wanted)
    for backward in _backwards(len(listing), at):
        match = _SASS.match(listing[backward].strip())
        hit = _written(match) & open_registers if match is not None else set()
        if match is not None and hit:
            if _VARIABLE.match(match["opcode"]):
                return backward
            open_registers -= hit
        if not open_registers:
            return None
    return None


def _amdgcn(listing: Listing, at: int, text: str) -> int | None:
    if text.startswith("s_barrier"):
        return at
    found: list[int] = []
    for one in _WAITCNT.finditer(text):
        counter = one["counter"] or one["named"]
        left = int(one["left"] if one["left"] is not None else one["value"], 0)
        waited = _nth(listing, at, _COUNTED[counter], left)
        if waited is not None:
            found.append(waited)
    return min(found, key=lambda one: (at - one) % len(listing)) if found else None


def _nth(listing: Listing, at: int, pattern: re.Pattern[str], left: int) -> int | None:
    """Return the newest operation that may not be outstanding any more when `left` of them may."""
    for backward in _backwards(len(listing), at):
        if pattern.match(listing[backward].strip()):
            if left == 0:
                return backward
            left -= 1
    return None
