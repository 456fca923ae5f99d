"""Documents of what was read in logs of tile kernels."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.packs.cutile.source.bench_log import BenchTime
from kopt_kb.packs.cutile.source.causes import TileCause

__all__ = ["BenchTimes", "ExplainedLog", "NamedCause"]


@dataclass(frozen=True, slots=True)
class BenchTimes(Wire):
    """Times of a pytest benchmark, in the order of its log."""

    times: tuple[BenchTime, ...]


@dataclass(frozen=True, slots=True)
class NamedCause(Wire):
    """A cause with the line of a log that has its words; empty without a log."""

    cause: TileCause
    line: str


@dataclass(frozen=True, slots=True)
class ExplainedLog(Wire):
    """Causes that a log names, or all."""

    causes: tuple[NamedCause, ...]
