"""What removing a finding is worth: the share of the time that its own evidence says it costs.

An estimate from above: what a unit or a wait takes can overlap with others. Where the finding is a unit at its limit,
nothing but less work for it helps, and the share it is short of its peak is what better use of it can bring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.base.wire import Wire

__all__ = ["Worth", "worth_of"]

_LANES = 32.0


@dataclass(frozen=True, slots=True)
class Worth(Wire):
    """An estimate.

    Attributes:
        time_pct: At most this part of the kernel's time goes away.
        basis: What it is computed from.
    """

    time_pct: float
    basis: str

    def __str__(self) -> str:
        """`at most 31 % of the time (idle SMs)`."""
        return f"at most {self.time_pct:.0f} % of the time ({self.basis})"


def worth_of(kernel: DerivedMetrics, finding: Finding) -> Worth | None:
    """Return what removing a finding is worth, None where the counters don't tell."""
    estimate = _ESTIMATES.get(finding.limiter)
    value = None if estimate is None else estimate[0](kernel, finding)
    if estimate is None or value is None:
        return None
    return Worth(min(100.0, max(0.0, value)), estimate[1])


Estimate = Callable[[DerivedMetrics, Finding], float | None]


def _evidence(*metrics: str) -> Estimate:
    def of(_: DerivedMetrics, finding: Finding) -> float | None:
        return next((one.value for one in finding.evidence if one.metric in metrics), None)

    return of


def _times(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first * second / 100


def _rest(value: float | None) -> float | None:
    return None if value is None else 100 - value


def _divergence(kernel: DerivedMetrics, _: Finding) -> float | None:
    threads = kernel.get("threads_per_instruction")
    lanes = kernel.get("wave_threads") or _LANES
    return None if threads is None else _times(kernel.compute_pct, 100 * (1 - threads / lanes))


def _uncoalesced(kernel: DerivedMetrics, _: Finding) -> float | None:
    waste = kernel.coalescing_waste
    share = None if kernel.memory_pct is None else max(kernel.memory_pct, kernel.memory_stall_share_pct or 0.0)
    return None if not waste else _times(share, 100 * (1 - 1 / waste))


def _small_grid(kernel: DerivedMetrics, finding: Finding) -> float | None:
    idle = _evidence("idle_sm_pct")(kernel, finding)
    return _rest(kernel.occupancy_kept_pct) if idle is None else idle


def _dependency(_: DerivedMetrics, finding: Finding) -> float | None:
    first = finding.evidence[0] if finding.evidence else None
    return first.value if first is not None and first.unit == "%" else None


_UNUSED = "what the busiest unit is short of its peak; more only by less work for it"
_ESTIMATES: Mapping[str, tuple[Estimate, str]] = {
    "small-grid": (_small_grid, "SM time or warp slots that stand empty"),
    "imbalance": (_evidence("idle_sm_pct"), "SMs that wait for the last"),
    "tail": (_evidence("tail_loss_pct"), "what the last wave leaves idle"),
    "bank-conflict": (lambda k, _: _times(k.shared_use_pct, k.shared_excess_pct), "passes that conflicts add"),
    "uncoalesced": (_uncoalesced, "bytes moved and not used, on the busiest level"),
    "divergence": (_divergence, "lanes that idle in an instruction"),
    "spill": (lambda k, _: _times(k.memory_stall_share_pct, k.local_share_pct), "waits for private memory"),
    "atomics": (lambda k, _: _times(k.memory_stall_share_pct, k.atomic_share_pct), "waits for atomics"),
    "barrier": (_evidence("barrier_share_pct"), "time warps wait at barriers"),
    "dependency": (_dependency, "time warps wait for results"),
    "occupancy-registers": (lambda k, _: _rest(k.issue_pct), "issue slots that stay empty"),
    "occupancy-shared": (lambda k, _: _rest(k.issue_pct), "issue slots that stay empty"),
    "occupancy-blocks": (lambda k, _: _rest(k.issue_pct), "issue slots that stay empty"),
    **{one: (lambda k, _: _rest(k.memory_pct), _UNUSED) for one in ("dram", "l2", "l1", "shared", "memory")},
    **{
        one: (lambda k, _: _rest(k.compute_pct), _UNUSED)
        for one in ("tensor", "fp32", "fp64", "sfu", "int", "issue", "compute")
    },
}
