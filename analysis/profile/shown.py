"""Kernel profiles as blocks of a report and as rows of a table."""

from __future__ import annotations

from kopt_kb.analysis.profile.kernel_profile import KernelProfile
from kopt_kb.analysis.profile.vocabulary import METRICS
from kopt_kb.frames import Record
from kopt_kb.markup.blocks import Block, FactsBlock, TableBlock, Text
from kopt_kb.quantity.readable import duration, rounded

__all__ = ["COLUMNS", "profile_blocks", "record_of"]

COLUMNS = (
    "kernel", "name", "file", "vendor", "device", "target", "grid", "block", "launches", "duration_s", "total_s",
)  # fmt: skip
"""Columns of every kernel; each metric that was collected is one more, by its id."""


def record_of(one: KernelProfile) -> Record:
    """Return a kernel as a row: times in seconds, metrics in the vocabulary's units, None for the unknown."""
    sides = ["x".join(map(str, each)) if each is not None else None for each in (one.grid, one.block)]
    total_s = one.durations.total_s if one.durations is not None else None
    own: list[str | int | float | None] = [
        one.function, one.demangled or one.name, one.source.file, one.source.vendor, one.known_device, one.known_target,
        *sides, one.launch_count, one.duration_s, total_s,
    ]  # fmt: skip
    metrics = {name: value for name, value in one.metrics.items() if name not in COLUMNS}
    return {**dict(zip(COLUMNS, own, strict=True)), **metrics}


def profile_blocks(one: KernelProfile) -> tuple[Block, ...]:
    """Return a kernel with its metrics."""
    record = record_of(one)
    rows: list[tuple[str, Text]] = [
        ("kernel", one.function),
        ("report", f"{one.source.file} ({one.source.tool})"),
        ("device", one.device or "not named"),
        ("grid, block", f"{record['grid'] or '-'}, {record['block'] or '-'}"),
        ("launches", f"{one.launch_count}, median {duration(one.duration_s)}"),
    ]
    metrics = tuple(
        (
            name,
            rounded(value) + ("" if one.bound(name) == "exact" else f" ({one.bound(name)} bound)"),
            METRICS[name].unit,
        )
        for name, value in one.metrics.items()
    )
    table = TableBlock("Metrics that were collected", ("metric", "value", "unit"), metrics, frozenset({1}))
    return (FactsBlock(tuple(rows)), table) if metrics else (FactsBlock(tuple(rows)),)
