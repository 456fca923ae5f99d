"""Kernel profiles as blocks of a report and as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kopt_kb.analysis.profile.vocabulary import METRICS
from kopt_kb.base.frames import Record
from kopt_kb.base.markup.blocks import CellText, FactsBlock, PageBlock, TableBlock
from kopt_kb.quantity.readable import duration, rounded

if TYPE_CHECKING:
    from kopt_kb.analysis.profile.kernel_profile import KernelProfile


__all__ = ["COLUMNS", "profile_blocks", "record_of"]

COLUMNS = (
    "kernel", "name", "file", "vendor", "device", "target", "grid", "block", "launches", "duration_s", "total_s",
)  # fmt: skip
"""Columns of every kernel; each metric that was collected is one more, by its id."""


def record_of(profile: KernelProfile) -> Record:
    """Return a kernel as a row: times in seconds, metrics in the vocabulary's units, None for the unknown."""
    sides = ["x".join(map(str, each)) if each is not None else None for each in (profile.grid, profile.block)]
    total_s = profile.durations.total_s if profile.durations is not None else None
    own: list[str | int | float | None] = [
        profile.function, profile.demangled or profile.name, profile.source.file, profile.source.vendor,
        profile.known_device, profile.known_target, *sides, profile.launch_count, profile.duration_s, total_s,
    ]  # fmt: skip
    metrics = {name: value for name, value in profile.metrics.items() if name not in COLUMNS}
    return {**dict(zip(COLUMNS, own, strict=True)), **metrics}


def profile_blocks(profile: KernelProfile) -> tuple[PageBlock, ...]:
    """Return a kernel with its metrics."""
    record = record_of(profile)
    rows: list[tuple[str, CellText]] = [
        ("kernel", profile.function),
        ("report", f"{profile.source.file} ({profile.source.tool})"),
        ("device", profile.device or "not named"),
        ("grid, block", f"{record['grid'] or '-'}, {record['block'] or '-'}"),
        ("launches", f"{profile.launch_count}, median {duration(profile.duration_s)}"),
    ]
    metrics = tuple(
        (
            name,
            rounded(value) + ("" if profile.bound(name) == "exact" else f" ({profile.bound(name)} bound)"),
            METRICS[name].unit,
        )
        for name, value in profile.metrics.items()
    )
    table = TableBlock("Metrics that were collected", ("metric", "value", "unit"), metrics, frozenset({1}))
    return (FactsBlock(tuple(rows)), table) if metrics else (FactsBlock(tuple(rows)),)
