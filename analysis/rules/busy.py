"""Rules for a unit that is busy: a level of memory, an arithmetic pipe, the issue slots, or two of them at once."""

from __future__ import annotations

from kopt_kb.analysis.rules.base import Evidence, Finding
from kopt_kb.analysis.rules.derived import COMPUTE_PIPES, Kernel, ratio_pct

__all__ = ["find_balanced", "find_divergence", "find_memory_level", "find_pipe"]

_THREAD_OPERATIONS = 2  # a fused multiply-add counts two operations


def find_divergence(kernel: Kernel) -> Finding | None:
    """Find instructions that few threads of a warp execute."""
    code = "BN-DIVERGENCE"
    names = ("threads_per_instruction", "unpredicated_threads_per_instruction")
    counted = {name: value for name in names if (value := kernel.get(name)) is not None}
    use = kernel.compute_pct
    if not counted or use is None or use < (kernel.memory_pct or 0.0):
        return None
    metric = min(counted, key=lambda name: counted[name])
    threads = counted[metric]
    need, busy = kernel.limit(code, "threads_per_instruction"), kernel.limit(code, "compute_use_pct")
    if not need.met(threads) or not busy.met(use):
        return None
    return Finding(
        code,
        "divergence",
        (
            Evidence(metric, threads, "1", need, "threads active in an instruction"),
            Evidence("compute_use_pct", use, "%", busy, "busiest pipe or issue slots"),
        ),
    )


def _matrix_bound(kernel: Kernel) -> bool:
    """A high matrix engine leads: its operands come through L1, which is busy by design."""
    return kernel.saturated(kernel.pipes.get("tensor"), "high_use_pct")


def find_balanced(kernel: Kernel) -> Finding | None:
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


def find_memory_level(kernel: Kernel) -> Finding | None:
    """Find the busiest level of memory: DRAM, L2, L1 or shared memory."""
    uses = {"dram": kernel.stream_pct, "l2": None if kernel.l2_passes_through else kernel.l2_pct, "l1": kernel.l1_pct}
    known = {level: value for level, value in uses.items() if value is not None}
    if not known:
        return None
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
    elif level == "l1" and kernel.get("pipe.lds_pct") is not None:
        level = "shared"
    return Finding(f"BN-{level.upper()}", level, tuple(evidence))


def find_pipe(kernel: Kernel) -> Finding | None:
    """Find the busiest arithmetic pipe, or the issue slots when no pipe is busy."""
    row = kernel.limit("BN-SATURATED", "use_pct")
    pipe = max(kernel.pipes, key=lambda one: kernel.pipes[one], default=None)
    mix = () if pipe is None else _mix(kernel, pipe)
    if pipe is not None and kernel.saturated(kernel.pipes[pipe]) and not mix:
        limiter = _limiter(kernel, pipe)
        proof = Evidence(f"pipe_elapsed.{pipe}_pct", kernel.pipes[pipe], "%", row, "busiest arithmetic pipe")
        return Finding(f"BN-{limiter.upper()}", limiter, (proof, *_kind(kernel, pipe)))
    use = kernel.compute_pct
    if use is None or not kernel.saturated(use):
        return None
    if pipe == "fma" and _limiter(kernel, pipe) == "int" and _waits_for_pipe(kernel):
        proof = Evidence("sm_sol_pct", use, "%", row, "warps wait for a pipe that multiplies integers at half rate")
        return Finding("BN-INT", "int", (proof, *_kind(kernel, pipe)))
    proof = Evidence("issue_use_pct", use, "%", row, "issue slots, no pipe is as busy")
    return Finding("BN-ISSUE", "issue", (proof, *mix))


def _mix(kernel: Kernel, pipe: str) -> tuple[Evidence, ...]:
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


def _waits_for_pipe(kernel: Kernel) -> bool:
    share = kernel.stall_share_pct({"math_pipe_throttle"})
    return share is not None and kernel.limit("BN-BARRIER", "barrier_share_pct").met(share)


def _fp_share_pct(kernel: Kernel) -> float | None:
    """FP32 and FP16 operations among the executed thread instructions; None when not counted."""
    counted = [kernel.get(f"flops.vector.{dtype}") for dtype in ("fp32", "fp16")]
    known = [one for one in counted if one is not None]
    return ratio_pct(sum(known) / _THREAD_OPERATIONS, kernel.get("thread_instructions")) if known else None


def _limiter(kernel: Kernel, pipe: str) -> str:
    """The multiply-add pipe also multiplies integers, AMD's vector ALU does everything: operations decide."""
    if pipe == "valu" and (kernel.get("flops.vector.fp64") or 0) > (kernel.get("flops.vector.fp32") or 0):
        return "fp64"
    share = _fp_share_pct(kernel)
    if pipe in {"fma", "valu"} and share is not None and kernel.limit("BN-INT", "fp32_share_pct").met(share):
        return "int"
    return COMPUTE_PIPES[pipe]


def _kind(kernel: Kernel, pipe: str) -> tuple[Evidence, ...]:
    share = _fp_share_pct(kernel)
    if pipe not in {"fma", "valu"} or share is None:
        return ()
    row = kernel.limit("BN-INT", "fp32_share_pct")
    return (
        Evidence("fp32_share_pct", share, "%", row if row.met(share) else None, "FP operations among instructions"),
    )
