"""The report of a kernel that was prepared for TileIR, with empty places where nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.packs.tileir.rewrite import Applied

__all__ = ["Report", "TileirComparison", "TileirTiming", "Timings", "render_report", "render_timings"]


@dataclass(frozen=True, slots=True)
class TileirComparison(Wire):
    """Two versions of a kernel on the same inputs.

    Attributes:
        status: `passed`, `failed`, or `not run`.
        max_difference: Largest absolute difference; None where nothing was compared.
        equal_bits: Whether every output is the same to the bit.
        how: Where it ran.
        reason: Why it failed or was not run.
    """

    status: str
    max_difference: float | None
    equal_bits: bool
    how: str
    reason: str


@dataclass(frozen=True, slots=True)
class TileirTiming(Wire):
    """One backend's time.

    Attributes:
        backend: `PTX (ENABLE_TILE=0)` or `TileIR (ENABLE_TILE=1)`.
        time_ms: Median; None where it was not measured.
        speedup: Against PTX; None where either is missing.
        reason: Why it is missing.
    """

    backend: str
    time_ms: float | None
    speedup: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Timings(Wire):
    """Times of both backends."""

    timings: tuple[TileirTiming, ...]


@dataclass(frozen=True, slots=True)
class Report(Wire):
    """What was done to the kernels of a file and what came of it.

    Attributes:
        kernels: What was done to each.
        compatibility: The prepared file against the original, without TileIR.
        validation: The same with TileIR.
        timings: Times of both backends.
        output: The file written; empty when none was.
        stopped: Why the phases ended early; empty when they did not.
    """

    kernels: tuple[Applied, ...]
    compatibility: TileirComparison
    validation: TileirComparison
    timings: tuple[TileirTiming, ...]
    output: str
    stopped: str


def render_report(report: Report) -> str:
    """Return the report as Markdown."""
    parts = [_kernel(one) for one in report.kernels]
    parts.append(f"### Compatibility Check (ENABLE_TILE=0)\n{_verdict(report.compatibility)}")
    parts.append(f"### TileIR Validation (ENABLE_TILE=1)\n{_verdict(report.validation)}")
    parts.append(f"### Benchmark Comparison\n{render_timings(report.timings)}")
    if report.stopped:
        parts.append(f"### Stopped\n{report.stopped}")
    parts.append(f"### Output\nFile: {report.output or 'none'}")
    return "\n\n".join(parts)


def render_timings(timings: tuple[TileirTiming, ...]) -> str:
    """Return times as a table; what was not measured is empty, and below it stands why."""
    rows = ["| Backend | Time (ms) | Speedup |", "|---------|-----------|---------|"]
    rows += [f"| {one.backend} | {_number(one.time_ms, '')} | {_number(one.speedup, 'x')} |" for one in timings]
    reasons = dict.fromkeys(one.reason for one in timings if one.reason)
    return "\n".join([*rows, *(f"not measured: {one}" for one in reasons)])


def _kernel(one: Applied) -> str:
    lines = [f"## TileIR Optimization: {one.kernel}", "", "### Classification", f"- Kernel type: {one.classification}"]
    lines += [f"- Strategy: {one.strategy}", "", "### Transformations Applied"]
    lines += [f"- {each}" for each in one.changes] or ["- none"]
    if one.refusals:
        lines += ["", "### Left as it is"] + [f"- {each}" for each in one.refusals]
    return "\n".join(lines)


def _verdict(comparison: TileirComparison) -> str:
    if comparison.status == "not run":
        return f"NOT RUN — {comparison.reason}"
    bits = ", every bit equal" if comparison.equal_bits else ""
    difference = "unknown" if comparison.max_difference is None else f"{comparison.max_difference:.1e}"
    reason = f"; {comparison.reason}" if comparison.reason else ""
    return f"{comparison.status.upper()} — Max difference: {difference}{bits} ({comparison.how}){reason}"


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.3f}{unit}" if not unit else f"{value:.2f}{unit}"
