"""What counters say of where the time of a launch went: seconds of units, of SMs without work, of waiting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.gap.causes import Certainty
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.thresholds import load_thresholds

__all__ = ["Fact", "Spent", "spent_of", "wave_loss_pct"]

_NOT_WAITING = frozenset({"not_selected", "selected", "any", "issue", "math_pipe_throttle"})
"""Warps that could issue, totals over all reasons, and waits for a busy pipe, which is the pipe's time."""
_REASONS_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """Seconds with their proof; none of it was said where `seconds` is 0 and there is no evidence."""

    seconds: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    certainty: Certainty = "measured"

    def __add__(self, other: Fact) -> Fact:
        surest = next(one for one in ("at most", "estimate", "measured") if one in {self.certainty, other.certainty})
        return Fact(self.seconds + other.seconds, (*self.evidence, *other.evidence), surest)


@dataclass(frozen=True, slots=True)
class Spent:
    """One launch, or several one after the other.

    Attributes:
        time_s: Their time.
        units: Seconds that a unit takes at its own peak: `dram`, `l2`, `l1`, `shared`, `issue`.
        launch: Nothing had a block.
        tail: SMs without a block that the last wave predicts.
        imbalance: SMs without a block beyond it.
        latency: Nobody could issue, for waits; whether or not a unit was busy at the same time.
        high: Whether a unit is so busy that waiting for it is no latency.
        missing: Metrics that were not collected and would have told more.
    """

    time_s: float
    units: Mapping[str, Fact]
    launch: Fact = Fact()
    tail: Fact = Fact()
    imbalance: Fact = Fact()
    latency: Fact = Fact()
    high: bool = False
    missing: tuple[str, ...] = ()

    def __add__(self, other: Spent) -> Spent:
        names = dict.fromkeys((*self.units, *other.units))
        return Spent(
            self.time_s + other.time_s,
            {name: self.units.get(name, Fact()) + other.units.get(name, Fact()) for name in names},
            self.launch + other.launch,
            self.tail + other.tail,
            self.imbalance + other.imbalance,
            self.latency + other.latency,
            self.high and other.high,
            tuple(dict.fromkeys((*self.missing, *other.missing))),
        )

    def scaled(self, factor: float) -> Spent:
        """Return the same shares of another time."""

        def of(fact: Fact) -> Fact:
            return Fact(fact.seconds * factor, fact.evidence, fact.certainty)

        return Spent(
            self.time_s * factor, {name: of(fact) for name, fact in self.units.items()}, of(self.launch),
            of(self.tail), of(self.imbalance), of(self.latency), self.high, self.missing,
        )  # fmt: skip


def wave_loss_pct(blocks: float | None, sms: float | None, waves: float | None) -> float | None:
    """Return the share of SM time that a grid leaves without a block, in percent; None without the grid.

    Blocks of equal time are assumed: W waves take ceil(W) times one block. A grid below one wave leaves the SMs empty
    that get no block; one that is a multiple of the SMs and fits at once, as a persistent one, leaves none.

    Args:
        blocks: Blocks of the grid.
        sms: SMs of the device.
        waves: Blocks over those that are resident at once.
    """
    if waves is None or waves <= 0:
        return None
    if waves > 1:
        return 100 * (1 - waves / math.ceil(waves))
    if not blocks or not sms:
        return None
    return max(0.0, 100 * (1 - blocks / sms))


def spent_of(profile: KernelProfile) -> Spent:
    """Return what the counters of one launch say; raises `BadInput` when a page of thresholds is broken."""
    time_s = profile.duration_s or 0.0
    kernel = DerivedMetrics(profile, load_thresholds(None, profile.source.vendor))
    launch = _launch(kernel, time_s)
    tail, imbalance = _idle(kernel, time_s)
    uses = (kernel.compute_pct, kernel.stream_pct, kernel.l2_pct, kernel.l1_pct, kernel.lds_pct)
    return Spent(
        time_s, _units(kernel, time_s), launch, tail, imbalance, _latency(kernel, time_s),
        any(kernel.saturated(one, "high_use_pct") for one in uses), _missing(profile),
    )  # fmt: skip


def _part(time_s: float, share_pct: float, *evidence: Evidence, certainty: Certainty = "measured") -> Fact:
    return Fact(time_s * min(100.0, max(0.0, share_pct)) / 100, evidence, certainty)


def _units(kernel: DerivedMetrics, time_s: float) -> dict[str, Fact]:
    """Return what units were busy; of a memory that is L1 and shared at once, the level with most of its passes."""
    l1, shared, note = kernel.l1_pct, kernel.lds_pct, "use of shared memory"
    if shared is None and kernel.mostly_shared:
        l1, shared = None, l1
        note = f"use of L1, {kernel.shared_share_pct or 0.0:.3g} % of its passes for shared memory"
    uses = {
        "dram": ("dram_use_pct", kernel.dram_pct, "bytes of device memory at the peak of the run"),
        "l2": ("l2_use_pct", kernel.l2_pct, "use of L2"),
        "l1": ("l1_use_pct", l1, "use of L1, which may be shared memory too"),
        "shared": ("shared_use_pct", shared, note),
        "issue": ("compute_use_pct", kernel.compute_pct, "busiest arithmetic pipe or the issue slots"),
    }
    return {
        unit: _part(time_s, use, Evidence(metric, use, "%", None, note))
        for unit, (metric, use, note) in uses.items()
        if use is not None
    }


def _launch(kernel: DerivedMetrics, time_s: float) -> Fact:
    """Cycles in which not even the busiest SM had a block: the start of a launch, and its end."""
    elapsed, most = kernel.get("elapsed_cycles"), kernel.get("sm_active_cycles_max")
    if not elapsed or most is None or most >= elapsed:
        return Fact()
    proof = Evidence("elapsed_cycles", elapsed, "cycle", None, f"{most:.6g} with work on the busiest SM")
    return _part(time_s, 100 * (1 - most / elapsed), proof)


def _idle(kernel: DerivedMetrics, time_s: float) -> tuple[Fact, Fact]:
    """Return tail and imbalance: what SMs without a block cost, as measured, else as the grid predicts."""
    predicted = wave_loss_pct(kernel.get("grid_blocks"), kernel.get("sm_count"), kernel.get("waves_per_sm"))
    waves = Evidence("predicted_tail_pct", predicted or 0.0, "%", None, f"{kernel.get('waves_per_sm') or 0:.4g} waves")
    idle, active_s = _idle_pct(kernel), time_s
    if idle is None:
        return (Fact() if not predicted else _part(time_s, predicted, waves, certainty="at most")), Fact()
    elapsed, most = kernel.get("elapsed_cycles"), kernel.get("sm_active_cycles_max")
    if elapsed and most is not None:
        active_s = time_s * min(1.0, most / elapsed)
    proof = Evidence("idle_sm_pct", idle, "%", None, "SM time without a block, against the busiest SM")
    tail = min(idle, predicted or 0.0)
    return (
        _part(active_s, tail, proof, waves) if tail else Fact(),
        _part(active_s, idle - tail, proof) if idle > tail else Fact(),
    )


def _idle_pct(kernel: DerivedMetrics) -> float | None:
    """Return the measured share; a grid alone is a prediction."""
    if kernel.get("sm_active_cycles") is None and kernel.get("sm_active_pct") is None:
        return None
    return kernel.idle_sm_pct


def _latency(kernel: DerivedMetrics, time_s: float) -> Fact:
    """Return time in which no scheduler could issue, in the share of waits."""
    waiting = kernel.get("waiting_pct")
    if waiting is not None:
        proof = Evidence("waiting_pct", waiting, "%", None, "time of waves spent waiting for memory of any kind")
        return _part(time_s, waiting, proof, certainty="at most")
    issue, waits = kernel.issue_pct, {one: value for one, value in kernel.profile.stalls.items() if value > 0}
    whole = sum(value for one, value in waits.items() if one not in {"any", "not_selected"})
    reasons = {one: value for one, value in waits.items() if one not in _NOT_WAITING}
    if issue is None or not whole or not reasons:
        return Fact()
    share = 100 * sum(reasons.values()) / whole
    shown = tuple(
        Evidence(f"stall.{one}_share_pct", 100 * value / whole, "%", None, "of what warps wait for")
        for one, value in list(reasons.items())[:_REASONS_SHOWN]
    )
    empty = Evidence("no_issue_pct", 100 - issue, "%", None, "cycles without an eligible warp")
    return _part(time_s * kernel.active_share, (100 - issue) * share / 100, empty, *shown, certainty="estimate")


_TELL: Mapping[str, tuple[str, ...]] = {
    "nvidia": (
        "duration_s", "elapsed_cycles", "sm_active_cycles", "sm_active_cycles_max", "waves_per_sm", "dram_bytes",
        "dram_sol_pct", "l2_sol_pct", "l1_sol_pct", "issue_active", "stall.long_scoreboard",
    ),
    "amd": (
        "duration_s", "waves_per_sm", "fabric_read_bytes", "pipe_elapsed.valu_pct", "pipe_elapsed.tensor_pct",
        "waiting_pct", "l2_sol_pct", "l1_sol_pct",
    ),
}  # fmt: skip


def _missing(profile: KernelProfile) -> tuple[str, ...]:
    return profile.absent(*_TELL[profile.source.vendor])
