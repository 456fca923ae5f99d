"""Documents of what was read in logs of tile kernels."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.analysis.cutile.bench_log import BenchTime
from kopt_kb.analysis.cutile.causes import TileCause
from kopt_kb.wire import Wire

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
