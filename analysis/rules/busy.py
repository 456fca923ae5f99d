"""Rules for a unit that is busy: a level of memory, an arithmetic pipe, the issue slots, or two of them at once."""

from __future__ import annotations

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import COMPUTE_PIPES, DerivedMetrics, ratio_pct

__all__ = ["find_balanced", "find_divergence", "find_memory_level", "find_pipe"]

_THREAD_OPERATIONS = 2  # a fused multiply-add counts two operations


def find_divergence(kernel: DerivedMetrics) -> Finding | None:
    """Find instructions that few threads of a warp execute."""
    code = "BN-DIVERGENCE"
    threads, use = kernel.get("threads_per_instruction"), kernel.compute_pct
    if threads is None or use is None or use < (kernel.memory_pct or 0.0):
        return None
    full = kernel.saturated(max(kernel.pipes.values(), default=None), "high_use_pct")
    need = kernel.limit(code, "saturated_threads_per_instruction" if full else "threads_per_instruction")
    busy = kernel.limit(code, "compute_use_pct")
    if not need.met(threads) or not busy.met(use):
        return None
    return Finding(
        code,
        "divergence",
        (
            Evidence("threads_per_instruction", threads, "1", need, "threads active in an instruction"),
            Evidence("compute_use_pct", use, "%", busy, "busiest pipe or issue slots"),
        ),
    )


def _matrix_bound(kernel: DerivedMetrics) -> bool:
    """A high matrix engine leads: its operands come through L1, which is busy by design."""
    return kernel.saturated(kernel.pipes.get("tensor"), "high_use_pct")


def find_balanced(kernel: DerivedMetrics) -> Finding | None:
    """Find kernels whose arithmetic and whose DRAM path are both busy, neither clearly more."""
    compute, memory = kernel.compute_pct, kernel.dram_pct
    if compute is None or memory is None or not kernel.saturated(compute) or not kernel.saturated(memory):
        return None
    near = kernel.limit("BN-BALANCED", "apart_pct")
    if _matrix_bound(kernel) or not near.met(abs(compute - memory)):
        return None
    row = kernel.limit("BN-SATURATED", "use_pct")
    return Finding(
        "BN-BALANCED",
        "balanced",
        (
            Evidence("compute_use_pct", compute, "%", row, "busiest pipe or issue slots"),
            Evidence("dram_use_pct", memory, "%", row, "DRAM throughput"),
            Evidence("apart_pct", abs(compute - memory), "%", near, "lead of one over the other"),
        ),
    )


def find_memory_level(kernel: DerivedMetrics) -> Finding | None:
    """Find the busiest level of memory: DRAM, L2, L1 or shared memory."""
    uses = {"dram": kernel.stream_pct, "l2": None if kernel.l2_passes_through else kernel.l2_pct, "l1": kernel.l1_pct}
    uses["shared"] = kernel.lds_pct
    known = {level: value for level, value in uses.items() if value is not None}
    if kernel.l1_or_compute:
        return None
    if not known:
        return _unnamed_level(kernel)
    level = max(known, key=lambda one: known[one])
    use = known[level]
    compute = kernel.compute_pct or 0.0
    if not kernel.saturated(use) or compute > use or _matrix_bound(kernel):
        return None
    row = kernel.limit("BN-SATURATED", "use_pct")
    evidence = [Evidence(f"{level}_use_pct", use, "%", row, "busiest level of memory")]
    if level == "l1" and kernel.shared_share_pct is not None:
        share = kernel.shared_share_pct
        evidence.append(Evidence("shared_share_pct", share, "%", None, "shared memory among the passes"))
        level = "shared" if kernel.mostly_shared else "l1"
    return Finding(f"BN-{level.upper()}", level, tuple(evidence))


def _unnamed_level(kernel: DerivedMetrics) -> Finding | None:
    use, compute = kernel.memory_pct, kernel.compute_pct
    if use is None or compute is None or not kernel.saturated(use) or compute > use:
        return None
    row = kernel.limit("BN-SATURATED", "use_pct")
    proof = Evidence("memory_sol_pct", use, "%", row, "the busiest level, which the report doesn't name")
    return Finding("BN-MEMORY", "memory", (proof, Evidence("compute_use_pct", compute, "%", None, "less busy")))


def find_pipe(kernel: DerivedMetrics) -> Finding | None:
    """Find the busiest arithmetic pipe, or the issue slots when no pipe is busy."""
    row = kernel.limit("BN-SATURATED", "use_pct")
    pipe = max(kernel.pipes, key=lambda one: kernel.pipes[one], default=None)
    mix = () if pipe is None else _mix(kernel, pipe)
    if pipe is not None and kernel.saturated(kernel.pipes[pipe]) and not mix:
        limiter = _limiter(kernel, pipe)
        proof = Evidence(f"pipe_elapsed.{pipe}_pct", kernel.pipes[pipe], "%", row, "busiest arithmetic pipe")
        return Finding(f"BN-{limiter.upper()}", limiter, (proof, *_kind(kernel, pipe)))
    use = kernel.compute_pct
    if use is None or not kernel.saturated(use) or kernel.l1_or_compute:
        return None
    if _unnamed(kernel):
        proof = Evidence(
            "sm_sol_pct", use, "%", row, "the busiest pipe or the issue slots; the report doesn't say which"
        )
        return Finding("BN-COMPUTE", "compute", (proof, *_memory(kernel)))
    if pipe == "fma" and _limiter(kernel, pipe) == "int" and _waits_for_pipe(kernel):
        proof = Evidence("sm_sol_pct", use, "%", row, "warps wait for a pipe that multiplies integers at half rate")
        return Finding("BN-INT", "int", (proof, *_kind(kernel, pipe)))
    proof = Evidence("issue_use_pct", use, "%", row, "issue slots, no pipe is as busy")
    return Finding("BN-ISSUE", "issue", (proof, *mix))


def _unnamed(kernel: DerivedMetrics) -> bool:
    """Whether the busiest unit of the SM is one that the counters don't name."""
    slots = 0.0 if kernel.issue_pct is None else kernel.issue_pct * kernel.active_share
    if kernel.issue_pct is not None and kernel.pipes:
        return False
    return kernel.unnamed_unit_pct is not None and not kernel.saturated(slots)


def _memory(kernel: DerivedMetrics) -> tuple[Evidence, ...]:
    use = kernel.memory_pct
    return () if use is None else (Evidence("memory_use_pct", use, "%", None, "busiest level of memory"),)


def _mix(kernel: DerivedMetrics, pipe: str) -> tuple[Evidence, ...]:
    """Return the proof that several pipes share nearly all issue slots, none of them high; empty when not so."""
    issue, busiest = kernel.compute_pct or 0.0, kernel.pipes[pipe]
    second = max((use for one, use in kernel.pipes.items() if one != pipe), default=0.0)
    lead, other = kernel.limit("BN-ISSUE", "issue_lead_pct"), kernel.limit("BN-ISSUE", "second_pipe_pct")
    if kernel.saturated(busiest, "high_use_pct") or not kernel.saturated(issue, "high_use_pct"):
        return ()
    if not lead.met(issue - busiest) or not other.met(second):
        return ()
    return (
        Evidence("issue_lead_pct", issue - busiest, "%", lead, f"over the busiest pipe, {pipe}"),
        Evidence("second_pipe_pct", second, "%", other, "so the slots are shared"),
    )


def _waits_for_pipe(kernel: DerivedMetrics) -> bool:
    share = kernel.stall_share_pct({"math_pipe_throttle"})
    return share is not None and kernel.limit("BN-BARRIER", "barrier_share_pct").met(share)


def _fp_share_pct(kernel: DerivedMetrics) -> float | None:
    """FP32 and FP16 operations among the executed thread instructions; None when not counted."""
    counted = [kernel.get(f"flops.vector.{dtype}") for dtype in ("fp32", "fp16")]
    known = [one for one in counted if one is not None]
    return ratio_pct(sum(known) / _THREAD_OPERATIONS, kernel.get("thread_instructions")) if known else None


def _limiter(kernel: DerivedMetrics, pipe: str) -> str:
    """The multiply-add pipe also multiplies integers, AMD's vector ALU does everything: operations decide."""
    if pipe == "valu" and (kernel.get("flops.vector.fp64") or 0) > (kernel.get("flops.vector.fp32") or 0):
        return "fp64"
    share = _fp_share_pct(kernel)
    if pipe == "valu" and share is None:
        return _vector_type(kernel)
    if pipe in {"fma", "valu"} and share is not None and kernel.limit("BN-INT", "fp32_share_pct").met(share):
        return "int"
    return COMPUTE_PIPES[pipe]


def _vector_type(kernel: DerivedMetrics) -> str:
    """The type that most operations of a unit for all types have."""
    amounts = {
        "fp32": ("fp32", "fp16"),
        "int": ("int32", "int64"),
    }
    totals = {limiter: sum(kernel.get(f"flops.vector.{one}") or 0 for one in of) for limiter, of in amounts.items()}
    return max(totals, key=lambda one: totals[one])


def _kind(kernel: DerivedMetrics, pipe: str) -> tuple[Evidence, ...]:
    share = _fp_share_pct(kernel)
    if pipe not in {"fma", "valu"} or share is None:
        return ()
    row = kernel.limit("BN-INT", "fp32_share_pct")
    return (
        Evidence("fp32_share_pct", share, "%", row if row.met(share) else None, "FP operations among instructions"),
    )
