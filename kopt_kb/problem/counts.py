"""Counts of work: a number with its exactness, by type and engine, by special function, by memory level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.dtypes import Engine
from kopt_kb.quantity import Exactness

__all__ = [
    "ByteCount",
    "Count",
    "Counts",
    "Exactness",
    "FlopCount",
    "Level",
    "SpecialCount",
    "TrafficDirection",
    "dram",
    "exact",
    "weaker",
]

Level = Literal["dram", "llc", "l2", "l1", "shared"]
TrafficDirection = Literal["read", "write", "both"]


@dataclass(frozen=True, slots=True)
class Count(Wire):
    """A whole number of things that is exact, or a lower or upper bound of the true number."""

    value: int
    exactness: Exactness = "exact"

    def __post_init__(self) -> None:
        if type(self.value) is not int or self.value < 0:
            raise BadInput(f"a count must be a whole number of at least 0, not {self.value!r}", code="KB064")

    def __add__(self, other: Count) -> Count:
        return Count(self.value + other.value, weaker(self.exactness, other.exactness))


@dataclass(frozen=True, slots=True)
class FlopCount(Wire):
    """Floating-point (or integer) operations of one type on one engine.

    Attributes:
        dtype: Type the engine computes in; decides the ceiling.
        engine: "matrix" or "vector".
        useful: Operations the definition of the operation asks for.
        executed: Operations a given kernel runs, padding included; None when only the operation is known.
    """

    dtype: str
    engine: Engine
    useful: Count
    executed: Count | None = None


@dataclass(frozen=True, slots=True)
class SpecialCount(Wire):
    """Evaluations of one special function (exp, log, rsqrt, …), kept apart from FLOPs."""

    function: str
    dtype: str
    count: Count


@dataclass(frozen=True, slots=True)
class ByteCount(Wire):
    """Bytes moved at one level in one direction.

    Attributes:
        level: Memory level.
        direction: "read", "write" or "both" (the sum, when only that is known).
        compulsory: Each distinct byte once: no kernel can move less if nothing is cached before it starts.
        requested: Bytes a given kernel asks this level for; None when only the operation is known.
    """

    level: Level
    direction: TrafficDirection
    compulsory: Count
    requested: Count | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """All counts of one operation."""

    flops: tuple[FlopCount, ...] = ()
    special: tuple[SpecialCount, ...] = ()
    bytes: tuple[ByteCount, ...] = ()


def exact(value: int) -> Count:
    """Return an exact count."""
    return Count(value)


def weaker(exactness: Exactness, other: Exactness) -> Exactness:
    """Return the exactness of a sum; raises `BadInput` when a lower meets an upper bound."""
    found = {exactness, other} - {"exact"}
    if len(found) == 2:
        raise BadInput("the sum of a lower and an upper bound is neither", code="KB092")
    return found.pop() if found else "exact"


def dram(read: int, write: int) -> tuple[ByteCount, ByteCount]:
    """Return exact compulsory DRAM bytes, read and written."""
    return ByteCount("dram", "read", exact(read)), ByteCount("dram", "write", exact(write))
