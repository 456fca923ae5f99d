"""Rules for warps that wait while no unit is busy: barriers, too few warps, chains of dependent instructions."""

from __future__ import annotations

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.idle import part_wave_evidence

__all__ = ["find_barrier", "find_dependency", "find_occupancy"]


_BOTH = 2  # arithmetic and memory
_FLOATING = ("vector.fp16", "vector.fp32", "vector.fp64", "matrix.fp16", "matrix.bf16", "matrix.fp32", "matrix.fp64")
"""Types that AMD's counters tell apart on all of its processors for computing."""


def find_barrier(kernel: DerivedMetrics) -> Finding | None:
    """Find block barriers as the first reason to wait."""
    code = "BN-BARRIER"
    share = kernel.stall_share_pct({"barrier"})
    if share is None or kernel.top_stall != "barrier":
        return None
    need = kernel.limit(code, "barrier_share_pct")
    pipes = max(kernel.pipes.values(), default=None)
    if not need.met(share) or kernel.saturated(kernel.dram_pct) or kernel.saturated(pipes, "high_use_pct"):
        return None
    return Finding(
        code, "barrier", (Evidence("barrier_share_pct", share, "%", need, "time warps wait at a block barrier"),)
    )


_RESOURCES = (("registers", "occupancy-registers"), ("blocks", "occupancy-blocks"), ("shared", "occupancy-shared"))


def find_occupancy(kernel: DerivedMetrics) -> Finding | None:
    """Find too few resident warps because registers, shared memory or the number of blocks run out."""
    code = "BN-OCCUPANCY"
    allowed, waves = kernel.get("theoretical_occupancy_pct"), kernel.get("waves_per_sm")
    if allowed is None or kernel.busy:
        return None
    low, filled = kernel.limit(code, "theoretical_occupancy_pct"), kernel.limit(code, "waves_per_sm")
    slots = kernel.limit(code, "issue_active_pct")
    if not low.met(allowed) or (waves is not None and not filled.met(waves)):
        return None
    if kernel.issue_pct is not None and not slots.met(kernel.issue_pct):
        return None
    waits = _waves_wait(kernel)
    if waits is None:
        return None
    limiters = kernel.profile.occupancy_limiters
    found = [limiter for resource, limiter in _RESOURCES if resource in limiters]
    if not found:
        return None
    evidence = [Evidence("theoretical_occupancy_pct", allowed, "%", low, f"limited by {', '.join(sorted(limiters))}")]
    if waves is not None:
        evidence.append(Evidence("waves_per_sm", waves, "1", filled, "the grid reaches that limit"))
    if kernel.issue_pct is not None:
        evidence.append(Evidence("issue_active_pct", kernel.issue_pct, "%", slots, "issue slots used"))
    return Finding(code, found[0], (*evidence, *waits))


def _waves_wait(kernel: DerivedMetrics) -> tuple[Evidence, ...] | None:
    """Return the proof that AMD waves wait, empty for other kernels; None when they do not, or nobody says."""
    if kernel.profile.source.vendor != "amd":
        return ()
    row, waiting = kernel.limit("BN-OCCUPANCY", "waiting_pct"), kernel.get("waiting_pct")
    if waiting is None or not row.met(waiting):
        return None
    return (Evidence("waiting_pct", waiting, "%", row, "time of waves spent waiting for memory of any kind"),)


def find_dependency(kernel: DerivedMetrics) -> Finding | None:
    """Find chains: warps wait for the result of an instruction and nothing else explains it."""
    if kernel.busy:
        return None
    top = kernel.top_stall
    known = _quiet_units(kernel)
    if top is None:
        return _find_waves_waiting(kernel, known) or _find_latency(kernel)
    share = kernel.stall_share_pct({top})
    if share is None or len(known) < _BOTH:
        return None
    first = Evidence(f"stall.{top}_share_pct", share, "%", None, _why(top))
    return Finding("BN-DEPENDENCY", "dependency", (first, *known, *part_wave_evidence(kernel)))


def _quiet_units(kernel: DerivedMetrics) -> tuple[Evidence, ...]:
    most = kernel.limit("BN-SATURATED", "use_pct")
    uses = {"compute_use_pct": kernel.compute_pct, "memory_use_pct": kernel.memory_pct}
    return tuple(
        Evidence(name, value, "%", None, f"under {most.value:g} %") for name, value in uses.items() if value is not None
    )


def _find_waves_waiting(kernel: DerivedMetrics, quiet: tuple[Evidence, ...]) -> Finding | None:
    """Find what AMD's wave cycles say: waits for memory of any kind, or for a slot, while no unit is busy."""
    memory, issue = kernel.get("waiting_pct"), kernel.get("issue_waiting_pct")
    if memory is None or len(quiet) < _BOTH:
        return None
    proof = [Evidence("waiting_pct", memory, "%", None, "time of waves spent waiting for memory of any kind")]
    if issue is not None:
        proof.append(Evidence("issue_waiting_pct", issue, "%", None, "time of waves spent waiting to issue"))
    if issue is not None and issue > memory:
        return Finding("BN-LATENCY", "latency", (*proof, *quiet))
    if _floating_point_operations(kernel) == 0:
        none = Evidence(
            "flops", 0.0, "FLOP", None, "no floating-point operation is counted: a copy has no chain of them"
        )
        return Finding("BN-LATENCY", "latency", (*proof, none, *quiet))
    return Finding("BN-DEPENDENCY", "dependency", (*proof, *quiet))


def _floating_point_operations(kernel: DerivedMetrics) -> float | None:
    """Return the operations counted of all floating-point types and both engines, None where not all were counted."""
    counted = [kernel.get(f"flops.{name}") for name in _FLOATING]
    return None if None in counted else sum(one for one in counted if one is not None)


def _find_latency(kernel: DerivedMetrics) -> Finding | None:
    """Find that neither arithmetic nor memory is busy, in a report that doesn't say what warps wait for."""
    row = kernel.limit("BN-SATURATED", "use_pct")
    uses = {name: kernel.get(name) for name in ("sm_sol_pct", "memory_sol_pct")}
    known = [
        Evidence(name, value, "%", None, f"under {row.value:g} %") for name, value in uses.items() if value is not None
    ]
    if len(known) < _BOTH or any(kernel.saturated(value) for value in uses.values()):
        return None
    return Finding("BN-LATENCY", "latency", tuple(known))


def _why(stall: str) -> str:
    if stall in {"wait", "math_pipe_throttle"}:
        return "time between dependent arithmetic instructions"
    return "the first reason warps wait for"
