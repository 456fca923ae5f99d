"""Units as profilers spell them, into base SI units; prefixes are decimal (1 Kbyte = 1000 byte)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

__all__ = ["Scaled", "base_unit"]

_PREFIXES = {"K": 10**3, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_SHORT = {"n": 10**9, "u": 10**6, "m": 10**3}
_SECONDS = frozenset({"s", "sec", "second", "seconds"})
_COUNTED = frozenset(
    {"inst", "cycle", "sector", "request", "warp", "thread", "block", "register", "sample", "wavefront", "branch"}
)


class Scaled(NamedTuple):
    """A base unit and the factor to it, kept as two whole numbers so that 1e9 divides exactly."""

    unit: str
    times: int = 1
    over: int = 1

    def apply(self, value: float) -> float:
        """Return `value` in the base unit."""
        return value * self.times / self.over


@lru_cache(maxsize=1024)
def base_unit(text: str) -> Scaled:
    """Return the base unit of a printed one: `Ghz` gives Hz × 1e9; words that are no SI unit stay as they are."""
    above, *below = text.strip().split("/")
    upper = _simple(above)
    lowers = [_simple(one) for one in below]
    times, over = upper.times, upper.over
    for lower in lowers:
        times, over = times * lower.over, over * lower.times
    unit = "/".join([upper.unit, *(one.unit for one in lowers)])
    return Scaled("Hz" if unit == "cycle/s" else unit, times, over)


def _simple(word: str) -> Scaled:
    lower = word.lower()
    if lower in _SECONDS:
        return Scaled("s")
    if word[:1] in _SHORT and lower[1:] in _SECONDS:
        return Scaled("s", over=_SHORT[word[0]])
    for name, unit in (("byte", "B"), ("bytes", "B"), ("hz", "Hz")):
        if lower == name:
            return Scaled(unit)
        if lower[1:] == name and word[0] in _PREFIXES:
            return Scaled(unit, _PREFIXES[word[0]])
    if word[:1] in _PREFIXES and word[1:] in _COUNTED:
        return Scaled(word[1:], _PREFIXES[word[0]])
    return Scaled(word)
