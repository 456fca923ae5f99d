"""Kernels with verdicts as text: a table by total time, one block a verdict, what the profiler itself found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kopt_kb.analysis.gap.document import Gap
from kopt_kb.analysis.profile import HotSpot, KernelProfile, StoredRule
from kopt_kb.analysis.rules.verdict import Verdict
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.output import printable, table
from kopt_kb.quantity.readable import duration, percent, rounded
from kopt_kb.wiki.registry import Platform

__all__ = ["JudgedKernel", "by_time", "render", "total_s"]

_NAME_CHARS = 60
_BLOCKS_SHOWN = 5
_KERNELS_SHOWN = 5
_SPOTS_SHOWN = 10
_RULES_SHOWN = 5
_REASONS_SHOWN = 2
_NEAR = 0.1  # roofs further away say nothing about the limiter
_COLUMNS = {
    "SM %": "sm_sol_pct",
    "memory %": "memory_sol_pct",
    "MFMA %": "pipe_elapsed.tensor_pct",
    "VALU %": "pipe_elapsed.valu_pct",
    "LDS %": "pipe_elapsed.lds_pct",
    "L1 %": "l1_sol_pct",
    "L2 %": "l2_sol_pct",
    "wait %": "waiting_pct",
    "occupancy %": "achieved_occupancy_pct",
    "of %": "theoretical_occupancy_pct",
    "registers": "registers_per_thread",
    "waves": "waves_per_sm",
}
_LEGEND = {
    "total": "total: of all launches",
    "share": "share: of all kernels' time",
    "time": "time: median of the launches",
    "SM %": "SM %, memory %: of their peaks at the clock of the run",
    "occupancy %": "occupancy %: reached",
    "of %": "of %: the most that registers, shared memory and block size allow",
    "waves": "waves: blocks over what fits at once",
    "wait %": "wait %: time of waves that waited",
    "sol_class": "sol_class: by the two peaks alone",
    "class": "class, limiter: by all rules",
}
"""What the columns are, where their head does not say it."""

_OF_AMD = frozenset({"MFMA %", "VALU %", "LDS %", "L1 %", "L2 %", "wait %"})


@dataclass(frozen=True, slots=True)
class JudgedKernel(Wire):
    """A kernel of a report with its verdict.

    Attributes:
        profile: The kernel.
        verdict: What limits it.
        platform: The product it ran on; None where nobody names it.
        gap: Where its time above the roof went; None where that can't be told.
        time_share: Its part of the time of all kernels that were read; None where there are no times.
    """

    profile: KernelProfile
    verdict: Verdict
    platform: Platform | None = None
    gap: Gap | None = None
    time_share: float | None = None

    WIRE: ClassVar = (*inside("profile", KernelProfile), "time_share", "platform=product", "verdict", "gap")

    @property
    def product(self) -> str | None:
        """Name of the product, None where nobody names it."""
        return None if self.platform is None else self.platform.id


def total_s(kernel: JudgedKernel) -> float:
    """Return the time of all launches, 0 where the report has none."""
    return kernel.profile.durations.total_s if kernel.profile.durations else 0.0


def by_time(judged: Sequence[JudgedKernel]) -> list[JudgedKernel]:
    """Return the kernels by falling total time, each with its part of all; those without times keep their order."""
    ranked = sorted(judged, key=lambda kernel: -total_s(kernel))
    whole_s = sum(map(total_s, ranked))
    return [replace(kernel, time_share=total_s(kernel) / whole_s) for kernel in ranked] if whole_s else ranked


def render(judged: Sequence[JudgedKernel], top: int | None = None) -> str:
    """Return the text of kernels that are already in their order: the first `top`, with their part of all."""
    whole_s = sum(map(total_s, judged))
    judged = judged[:top]
    user = [one for one in judged if one.profile.role != "runtime"]
    helpers = [one for one in judged if one.profile.role == "runtime"]
    parts = [_table(user, whole_s)] if user else []
    if helpers:
        parts.append("Helpers of the runtime:\n" + _table(helpers, whole_s))
    groups = _groups(user)
    parts += [_block(group, whole_s) for group in groups[:_BLOCKS_SHOWN]]
    if len(groups) > _BLOCKS_SHOWN:
        parts.append(f"{len(groups) - _BLOCKS_SHOWN} more verdicts; --kernel or --top chooses whose evidence is shown")
    parts += [_spots(one.profile) for one in judged if one.profile.hot_spots]
    notes = {f"Note: {printable(one.profile.source.file)}: {printable(note)}": None for one in judged
             for note in one.profile.notes}  # fmt: skip
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _table(shown: Sequence[JudgedKernel], whole_s: float) -> str:
    amd = any(one.profile.source.vendor == "amd" for one in shown)
    columns = {
        title: metric
        for title, metric in _COLUMNS.items()
        if (title not in _OF_AMD or amd) and any(one.profile.get(metric) is not None for one in shown)
    }
    ruled = any(one.profile.sol_class for one in shown)
    head = ("kernel", "launches", "total", "share", "time", *columns, *(["sol_class"] if ruled else []))
    rows = [(*head, "class", "limiter")]
    for one in shown:
        profile, verdict = one.profile, one.verdict
        spent_s = total_s(one)
        times = (duration(spent_s), percent(spent_s / whole_s)) if whole_s else ("-", "-")
        time = duration(profile.duration_s)
        cells = ["-" if (value := profile.get(metric)) is None else rounded(value) for metric in columns.values()]
        words = [*([profile.sol_class or "-"] if ruled else []), verdict.bottleneck, verdict.limiter]
        rows.append((_name(profile), str(profile.launch_count), *times, time, *cells, *words))
    known = [_LEGEND[name] for name in rows[0] if name in _LEGEND]
    return table(rows, right=range(1, 5 + len(columns))) + "\n" + "; ".join(known)


def _name(profile: KernelProfile) -> str:
    return printable(profile.name)[:_NAME_CHARS]


def _groups(judged: Sequence[JudgedKernel]) -> list[list[JudgedKernel]]:
    """Return the kernels by verdict, the group that takes longest first."""
    found: dict[tuple[str, str], list[JudgedKernel]] = {}
    for one in judged:
        found.setdefault((one.verdict.bottleneck, one.verdict.limiter), []).append(one)
    return sorted(found.values(), key=lambda group: -sum(total_s(kernel) for kernel in group))


def _block(group: Sequence[JudgedKernel], whole_s: float) -> str:
    first = group[0]
    verdict = first.verdict
    time = f", {percent(sum(map(total_s, group)) / whole_s)} of the time" if whole_s else ""
    count = f"{len(group)} kernel{'s' if len(group) > 1 else ''}"
    lines = [f"Primary bottleneck: {verdict.bottleneck}", f"Limiter: {verdict.limiter} ({count}{time})"]
    for one in group[:_KERNELS_SHOWN]:
        lines += [f"  {_name(one.profile)}", f"    Evidence: {one.verdict.proof}"]
        lines += [f"    Worth: {limiter} {worth}" for limiter, worth in one.verdict.worth.items()]
        near = [roof for roof in one.verdict.headroom if roof.of_limiter or roof.share >= _NEAR]
        lines += [f"    Reached: {roof}" for roof in near]
        lines += [f"    Gap: {one.gap.summary()}"] if one.gap is not None and one.gap.summary() else []
        lines += [f"    Doubt: {doubt}" for doubt in one.verdict.doubts]
        lines += [f"    Profiler: {rule}" for rule in _rules(one.profile.rules)]
    if len(group) > _KERNELS_SHOWN:
        lines.append(f"  and {len(group) - _KERNELS_SHOWN} more")
    lines += [*verdict.actions(), *(f"Record: {printable(one)}" for one in verdict.recording)]
    return "\n".join(lines)


def _rules(rules: Sequence[StoredRule]) -> list[str]:
    """Return what the profiler's own rules found, the largest estimate first."""
    told = [rule for rule in rules if rule.kind in {"optimization", "warning", "error"}]
    ranked = sorted(told, key=lambda one: -(one.speedup_pct or 0.0))
    lines = []
    for one in ranked[:_RULES_SHOWN]:
        words = printable(one.title or one.rule)
        gain = (
            ""
            if one.speedup_pct is None
            else f", estimated speed-up {rounded(one.speedup_pct)} % ({one.scope or 'unscoped'})"
        )
        lines.append(f"{words}{gain}")
    return lines


def _spots(profile: KernelProfile) -> str:
    """Return the instructions that cost most, as the trace or the samples have them."""
    spots = profile.hot_spots
    whole = sum(spot.stall_cycles for spot in spots)
    rows = [["stall", "share", "hits", "latency", "address", "instruction", "source", "reasons", "waits for"]]
    rows += [_spot(one, whole) for one in spots[:_SPOTS_SHOWN]]
    unit = spots[0].unit
    return f"Hot spots of {_name(profile)} (stall in {unit}):\n" + table(rows, right=range(5))


def _spot(spot: HotSpot, whole: int) -> list[str]:
    share = percent(spot.stall_cycles / whole) if whole else "-"
    costs = (str(spot.stall_cycles), share, str(spot.hits), str(spot.latency_cycles))
    reasons = ", ".join(f"{reason} {count}" for reason, count in list(spot.reasons.items())[:_REASONS_SHOWN])
    cells = (f"{spot.address:#x}", spot.instruction, spot.source or "-", reasons or "-", spot.waits_for or "-")
    return [*costs, *cells]
