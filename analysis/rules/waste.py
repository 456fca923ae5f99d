"""Rules for work on memory that need not be done: atomics, spills, bank conflicts, uncoalesced access."""

from __future__ import annotations

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import DerivedMetrics

__all__ = ["find_atomics", "find_bank_conflict", "find_spill", "find_uncoalesced"]


def _computes(kernel: DerivedMetrics) -> bool:
    """Whether arithmetic is busier than every level of memory, and busy enough to limit."""
    compute = kernel.compute_pct
    if kernel.saturated(kernel.pipes.get("tensor"), "high_use_pct"):
        return True
    return compute is not None and kernel.saturated(compute) and compute >= (kernel.memory_pct or 0.0)


def find_atomics(kernel: DerivedMetrics) -> Finding | None:
    """Find warps that wait for atomics on global or shared memory."""
    code = "BN-ATOMICS"
    share, waits = kernel.atomic_share_pct, kernel.memory_stall_share_pct
    if share is None or waits is None or _computes(kernel):
        return None
    executed, some = kernel.atomic_instructions_pct, kernel.limit(code, "atomic_instructions_pct")
    if executed is not None and not some.met(executed):
        return None
    need, stalled = kernel.limit(code, "atomic_share_pct"), kernel.limit(code, "memory_stall_share_pct")
    if not need.met(share) or not stalled.met(waits) or kernel.saturated(kernel.dram_pct):
        return None
    return Finding(
        code,
        "atomics",
        (
            Evidence("atomic_share_pct", share, "%", need, "atomics among the requests of their memory"),
            Evidence("memory_stall_share_pct", waits, "%", stalled, "time warps wait for memory"),
        ),
    )


def find_spill(kernel: DerivedMetrics) -> Finding | None:
    """Find traffic of private memory: spilled registers and arrays indexed at run time."""
    code = "BN-SPILL"
    share, waits = kernel.local_share_pct, kernel.memory_stall_share_pct
    if share is None or waits is None or _computes(kernel):
        return None
    need, stalled = kernel.limit(code, "local_share_pct"), kernel.limit(code, "memory_stall_share_pct")
    if not need.met(share) or not stalled.met(waits):
        return None
    evidence = [
        Evidence("local_share_pct", share, "%", need, "private memory among the sectors at L1"),
        Evidence("memory_stall_share_pct", waits, "%", stalled, "time warps wait for memory"),
    ]
    spilled = kernel.get("spill_requests")
    if spilled is not None:
        cause = "requests that exist because registers were spilled" if spilled else "no spill: a private array"
        evidence.append(Evidence("spill_requests", spilled, "1", None, cause))
    return Finding(code, "spill", tuple(evidence))


def find_bank_conflict(kernel: DerivedMetrics) -> Finding | None:
    """Find extra passes through a busy shared memory."""
    code = "BN-BANK-CONFLICT"
    excess, shared_use = kernel.shared_excess_pct, kernel.shared_use_pct
    if excess is None or shared_use is None or _computes(kernel):
        return None
    need, busy = kernel.limit(code, "shared_excess_pct"), kernel.limit(code, "shared_use_pct")
    if not need.met(excess) or not busy.met(shared_use):
        return None
    return Finding(
        code,
        "bank-conflict",
        (
            Evidence("shared_excess_pct", excess, "%", need, "passes that exist because of bank conflicts"),
            Evidence("shared_use_pct", shared_use, "%", busy, "use of the shared memory path"),
        ),
    )


def find_uncoalesced(kernel: DerivedMetrics) -> Finding | None:
    """Find global accesses that move more bytes than they use on a path that is busy or waited for."""
    code = "BN-UNCOALESCED"
    waste, use = kernel.coalescing_waste, kernel.memory_pct
    if waste is None or use is None or _computes(kernel):
        return None
    need, busy = kernel.limit(code, "coalescing_waste"), kernel.limit(code, "memory_use_pct")
    stalled = kernel.limit(code, "memory_stall_share_pct")
    waits = kernel.memory_stall_share_pct or 0.0
    queued = stalled.met(waits) and not _few_warps(kernel) and kernel.top_stall != "barrier"
    if not need.met(waste) or not (busy.met(use) or queued):
        return None
    if use == kernel.l1_pct and kernel.mostly_shared:
        return None
    proof = (
        Evidence("memory_use_pct", use, "%", busy, "busiest level of memory")
        if busy.met(use)
        else Evidence("memory_stall_share_pct", waits, "%", stalled, "time warps wait for memory")
    )
    return Finding(
        code,
        "uncoalesced",
        (Evidence("coalescing_waste", waste, "1", need, "bytes moved over bytes used"), proof),
    )


def _few_warps(kernel: DerivedMetrics) -> bool:
    """Whether residency itself explains that warps wait."""
    value = kernel.get("theoretical_occupancy_pct")
    return value is not None and kernel.limit("BN-OCCUPANCY", "theoretical_occupancy_pct").met(value)
