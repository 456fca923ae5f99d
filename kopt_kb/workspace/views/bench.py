"""Renders logs/bench.md: kernels measured outside any round, one section a bench."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.wiki.tables import table
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Bench, standing
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.bench import is_whole
from kopt_kb.workspace.targets.conditions import above_roof
from kopt_kb.workspace.targets.rates import ShapeRate, finite, rates_of
from kopt_kb.workspace.views.words import bullets, figure, finish

__all__ = ["bench_log"]

_PATH = "logs/bench.md"
_HEAD = ("Shape", "Record", "n", "Median (us)", "TFLOPS", "GB/s", "Target (%)")


def _row(rate: ShapeRate, above: Mapping[str, str]) -> tuple[str, ...]:
    target = figure(None if rate.target_ratio is None else 100 * rate.target_ratio)
    return (
        rate.record.shape,
        rate.record.id,
        str(rate.record.n),
        figure(finite(rate.record.median_s * 1e6)),
        figure(None if rate.flops_per_s is None else rate.flops_per_s * 1e-12),
        figure(None if rate.bytes_per_s is None else rate.bytes_per_s * 1e-9),
        "above a roof" if rate.record.shape in above else target,
    )


def _section(state: WorkspaceState, bench: Bench) -> list[str]:
    started, machine = bench.started, bench.started.machine
    is_right = machine.product == state.created.platform
    versions = ", ".join(f"{name} {version}" for name, version in sorted(machine.versions.items()))
    name = "kernel.py as it stood" if started.version is None else f"v{started.version}"
    known = machine.product or "no product of the wiki"
    records = standing(bench.records)
    levels = sorted({one.source.beside(one.trust) for one in bench.records if one.trust != "unstated"})
    above = above_roof(state, records) if is_right else {}
    is_cut = bool(records) and not is_whole(state, bench)
    lines = [f"## {started.bench}", ""]
    lines += bullets(
        [
            f"time: {bench.t}, event {bench.seq}",
            f"kernel: {name}, sha256 {started.kernel}",
            f"machine: {machine.device} ({known}), driver {machine.driver or 'unknown'}, {versions}",
            *([f"trust: {', '.join(levels)}"] if levels else []),
            *([] if is_right else [f"not {state.created.platform}: its conditions are not evaluable here"]),
            *(f"above a roof, so no measurement of the kernel: {text}" for text in above.values()),
            *(["cut off: it stands for no version before `kb bench kernel` has kept the rest"] if is_cut else []),
        ]
    )
    rates = rates_of(state, records, judged=is_right)
    return [
        *lines,
        *(
            table(_HEAD, [_row(rate, above) for rate in rates])
            if rates
            else ["No record: the kernel was not timed.", ""]
        ),
    ]


def bench_log(state: WorkspaceState, _: BlobReader) -> dict[str, str]:
    """Return logs/bench.md of a workspace that has benches."""
    lines = ["# Benches", "", "Kernels measured by `kb bench kernel`, outside any round.", ""]
    for one in state.benches.values():
        lines += _section(state, one)
    return {_PATH: finish(lines)}
