"""The closed list of normalised profile metrics: id, unit, meaning, and how launches are combined."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from kopt_kb.analysis.profile.families import CACHE_LEVELS, ENGINES, FLOP_DTYPES, LIMITERS, PIPES, STALL_REASONS
from kopt_kb.base.errors import BadInput

__all__ = ["METRICS", "Combine", "MetricDef", "MetricUnit", "definition_of"]

MetricUnit = Literal["s", "Hz", "%", "B", "B/s", "FLOP", "FLOP/s", "cycle", "1"]
Combine = Literal["sum", "time", "max", "ratio"]


@dataclass(frozen=True, slots=True)
class MetricDef:
    """One normalised metric.

    Attributes:
        id: Name used in `KernelProfile.metrics` and in JSON.
        unit: Base SI unit, `%`, or `1` for counts and ratios.
        meaning: What the number says, one clause.
        combine: How launches become one number: "sum" (an amount; the profile holds the mean of one launch,
            so that sums come before ratios), "time" (a rate or share; mean weighted by duration), "max"
            (a property of the launch), "ratio" (`over[0]` / `over[1]` × scale, both summed first; one launch keeps
            the tool's own ratio, and without the parts the mean is weighted by duration).
        over: Ids of numerator and denominator of a "ratio".
        scale: Factor of a "ratio", 100 for percentages.
    """

    id: str
    unit: MetricUnit
    meaning: str
    combine: Combine = "time"
    over: tuple[str, str] | None = None
    scale: float = 1.0


def _amount(name: str, unit: MetricUnit, meaning: str) -> MetricDef:
    return MetricDef(name, unit, meaning, "sum")


def _fixed(name: str, unit: MetricUnit, meaning: str) -> MetricDef:
    return MetricDef(name, unit, meaning, "max")


def _ratio(name: str, unit: MetricUnit, meaning: str, over: tuple[str, str], scale: float = 1.0) -> MetricDef:
    return MetricDef(name, unit, meaning, "ratio", over, scale)


_TIME = (
    MetricDef("duration_s", "s", "time of one launch on the GPU; the median over launches"),
    _amount("elapsed_cycles", "cycle", "core-clock cycles from first to last work"),
    MetricDef("sm_frequency_hz", "Hz", "mean core clock during the run, not the boost clock"),
    MetricDef("dram_frequency_hz", "Hz", "mean DRAM clock during the run, as the tool counts it"),
    _amount("sm_active_cycles", "cycle", "cycles an SM or CU had work, mean over SMs"),
    _amount("sm_active_cycles_max", "cycle", "the same for the busiest SM or CU"),
    _amount("sm_active_cycles_min", "cycle", "the same for the least busy SM or CU"),
    _ratio(
        "sm_active_pct", "%", "share of the elapsed cycles an SM has work", ("sm_active_cycles", "elapsed_cycles"), 100
    ),
)

_THROUGHPUT = (
    MetricDef("sm_sol_pct", "%", "compute throughput, share of peak over elapsed time"),
    MetricDef("memory_sol_pct", "%", "busiest memory unit, share of peak over elapsed time"),
    MetricDef("dram_sol_pct", "%", "DRAM throughput, share of peak over elapsed time"),
    MetricDef("l2_sol_pct", "%", "L2 throughput, share of peak over elapsed time"),
    MetricDef("l1_sol_pct", "%", "L1 (TEX, TCP) throughput, share of peak over the time an SM is active"),
    _ratio("l1_hit_pct", "%", "L1 hit rate", ("l1_hits", "l1_lookups"), 100),
    _ratio("l2_hit_pct", "%", "L2 hit rate; may exceed 100 when passes differ", ("l2_hits", "l2_lookups"), 100),
    MetricDef("memory_busy_pct", "%", "time the vector memory units hold work, waiting for it included (AMD TA)"),
    MetricDef("coalescing_pct", "%", "AMD's own: 100 is 4 bytes a lane side by side, 25 anything wider or scattered"),
    MetricDef("lines_per_access", "1", "lines that a vector access of a wave looks up in L1 (AMD)"),
    MetricDef("memory_stalled_pct", "%", "time the vector memory units are stalled (AMD)"),
    MetricDef("shared_stalled_pct", "%", "time shared memory (LDS) is stalled by bank conflicts (AMD)"),
    MetricDef("l2_atomic_pct", "%", "L2 atomic unit input, share of peak over elapsed time"),
    MetricDef("dram_bytes_per_s", "B/s", "DRAM traffic over time"),
)

_LAUNCH = (
    _fixed("grid_blocks", "1", "thread blocks (workgroups) of the launch"),
    _fixed("grid_threads", "1", "threads (work-items) of the launch"),
    _fixed("block_threads", "1", "threads (work-items) of a block"),
    _fixed("cluster_blocks", "1", "blocks of a cluster; 0 when the launch has none"),
    _fixed("registers_per_thread", "1", "registers a thread holds (architectural VGPRs on AMD)"),
    _fixed("accum_registers_per_thread", "1", "accumulation VGPRs a work-item holds (AMD)"),
    _fixed("scalar_registers_per_wave", "1", "SGPRs a wave holds (AMD)"),
    _fixed("shared_static_bytes", "B", "static shared memory (LDS) of a block"),
    _fixed("shared_dynamic_bytes", "B", "dynamic shared memory of a block"),
    _fixed("shared_driver_bytes", "B", "shared memory of a block that the driver reserves"),
    _fixed("shared_block_bytes", "B", "all shared memory (LDS) of a block"),
    _fixed("shared_config_bytes", "B", "shared memory an SM is configured to offer"),
    _fixed("scratch_bytes_per_thread", "B", "private segment or stack frame a thread owns"),
    _fixed("sm_count", "1", "SMs or CUs of the device"),
    _fixed("wave_threads", "1", "threads of a warp or wave"),
    _fixed("compute_capability", "1", "major x 10 + minor (NVIDIA)"),
    _fixed("waves_per_sm", "1", "grid over the blocks the device holds at once"),
)

_OCCUPANCY = (
    MetricDef("achieved_occupancy_pct", "%", "resident warps over the maximum, while an SM is active"),
    _fixed("theoretical_occupancy_pct", "%", "resident warps the launch allows over the maximum"),
    MetricDef("active_warps_per_sm", "1", "resident warps of an SM, mean over active cycles"),
    *(_fixed(f"occupancy_limit.{one}", "1", f"blocks an SM can hold by {one}") for one in LIMITERS),
)

_BYTES = (
    _amount("dram_read_bytes", "B", "bytes read from DRAM"),
    _amount("dram_write_bytes", "B", "bytes written to DRAM"),
    _amount("dram_bytes", "B", "bytes read from and written to DRAM"),
    _amount("fabric_read_bytes", "B", "bytes L2 reads from the fabric: DRAM, memory-side cache and remote (AMD)"),
    _amount("fabric_write_bytes", "B", "bytes L2 writes to the fabric (AMD)"),
    _amount("l2_read_bytes", "B", "bytes L1 reads from L2"),
    _amount("l2_write_bytes", "B", "bytes L1 writes to L2"),
    _amount("l2_bytes", "B", "bytes between L1 and L2"),
    _amount("l1_bytes", "B", "bytes the cores exchange with L1"),
    _amount("shared_bytes", "B", "bytes the cores exchange with shared memory (LDS)"),
    _amount("local_bytes", "B", "bytes of thread-private (local, scratch) memory through L1"),
    *(_amount(f"{level}_hits", "1", f"{level} sectors or requests that hit") for level in CACHE_LEVELS),
    *(_amount(f"{level}_lookups", "1", f"{level} sectors or requests looked up") for level in CACHE_LEVELS),
)

_ACCESS = tuple(
    metric
    for kind in ("load", "store")
    for metric in (
        _amount(f"global_{kind}_requests", "1", f"global {kind} requests of a warp"),
        _amount(f"global_{kind}_sectors", "1", f"sectors that global {kind}s touch in L1"),
        _amount(f"global_{kind}_bytes", "B", f"bytes of the sectors that global {kind}s touch"),
        MetricDef(f"global_{kind}_useful_bytes_per_sector", "B", f"bytes of a sector that global {kind}s use"),
        _ratio(
            f"global_{kind}_sectors_per_request",
            "1",
            f"sectors a global {kind} touches",
            (f"global_{kind}_sectors", f"global_{kind}_requests"),
        ),
        _ratio(
            f"global_{kind}_bytes_per_request",
            "B",
            f"bytes of the sectors a global {kind} touches",
            (f"global_{kind}_bytes", f"global_{kind}_requests"),
        ),
        _amount(f"shared_{kind}_instructions", "1", f"shared {kind} instructions of a warp"),
        _amount(f"shared_{kind}_wavefronts", "1", f"passes through shared memory for {kind}s"),
        _amount(f"shared_{kind}_conflicts", "1", f"extra passes of shared {kind}s because of bank conflicts"),
        _amount(f"local_{kind}_instructions", "1", f"local {kind} instructions of a warp: spills and private arrays"),
        _amount(f"local_{kind}_sectors", "1", f"sectors that local {kind}s touch in L1"),
    )
)

_TRAFFIC = (
    _amount("l2_global_sectors", "1", "L2 sectors that global accesses ask for, from addresses"),
    _amount("l2_global_sectors_ideal", "1", "L2 sectors they would ask for if coalesced"),
    _amount("shared_accesses", "1", "shared (LDS) accesses without conflicts"),
    _amount("shared_conflicts", "1", "extra shared (LDS) cycles or passes because of bank conflicts"),
    _amount("shared_wavefronts", "1", "passes through shared memory, from instructions"),
    _amount("shared_wavefronts_ideal", "1", "the same if no access had a bank conflict"),
    _amount("spill_requests", "1", "requests that exist because registers were spilled"),
    _amount("spill_instructions", "1", "instructions that exist because registers were spilled"),
    _amount("atomic_instructions", "1", "global atomics and reductions, instructions of a warp"),
    _amount("atomic_requests", "1", "requests of global atomics and reductions at L1 or L2"),
    _amount("shared_atomic_instructions", "1", "atomics on shared memory, instructions of a warp"),
    _amount("barrier_instructions", "1", "block barriers executed, instructions of a warp"),
)

_ISSUE = (
    _amount("instructions", "1", "instructions executed, counted a warp or wave"),
    _amount("thread_instructions", "1", "instructions executed, counted an active thread"),
    _amount("warps_launched", "1", "warps or waves launched"),
    _amount("matrix_instructions", "1", "matrix (tensor, MFMA) instructions of a warp or wave"),
    _amount("special_instructions", "1", "special function instructions of a warp"),
    MetricDef("branch_efficiency_pct", "%", "branch targets whose threads went one way"),
    _amount("branches", "1", "branch instructions executed, counted a warp"),
    _amount("divergent_branches", "1", "branch targets whose threads went different ways"),
    MetricDef("issue_active", "1", "instructions a scheduler issues a cycle while its SM is active"),
    MetricDef("instructions_per_cycle", "1", "instructions an SM or CU executes a cycle while active"),
    MetricDef("eligible_warps_per_scheduler", "1", "warps ready to issue, of one scheduler"),
    MetricDef("active_warps_per_scheduler", "1", "resident warps of one scheduler"),
    MetricDef("warp_latency_cycles", "cycle", "cycles between two instructions of a warp"),
    MetricDef("threads_per_instruction", "1", "active threads of an executed instruction"),
    MetricDef("unpredicated_threads_per_instruction", "1", "active threads that predicates leave on"),
    MetricDef("waiting_pct", "%", "time of resident waves spent waiting for memory of any kind (AMD)"),
    MetricDef("issue_waiting_pct", "%", "time of resident waves spent waiting for an issue slot or pipe (AMD)"),
    MetricDef("warp_efficiency_pct", "%", "active threads of an instruction over the threads of a warp"),
    *(MetricDef(f"stall.{one}", "1", text) for one, text in STALL_REASONS.items()),
    *(_amount(f"stall_samples.{one}", "1", "samples of " + text) for one, text in STALL_REASONS.items()),
    *(MetricDef(f"pipe.{one}_pct", "%", text + ", while an SM is active") for one, text in PIPES.items()),
    *(MetricDef(f"pipe_elapsed.{one}_pct", "%", text + ", over elapsed time") for one, text in PIPES.items()),
)

_FLOPS = tuple(
    _amount(f"flops.{engine}.{dtype}", "FLOP", f"{dtype} operations on the {engine} engine (a fused one counts 2)")
    for engine in ENGINES
    for dtype in FLOP_DTYPES
)

_PEAKS = (
    MetricDef("run_peak.dram_bytes_per_s", "B/s", "the tool's DRAM peak at the clock of the run"),
    MetricDef("run_peak.l2_bytes_per_s", "B/s", "the tool's L2 peak at the clock of the run"),
    MetricDef("run_peak.l1_bytes_per_s", "B/s", "the tool's L1 peak at the clock of the run"),
    MetricDef("run_peak.shared_bytes_per_s", "B/s", "the tool's shared memory (LDS) peak at the clock of the run"),
    *(
        MetricDef(f"run_peak.{engine}.{dtype}", "FLOP/s", f"the tool's {dtype} {engine} peak at the clock of the run")
        for engine in ENGINES
        for dtype in FLOP_DTYPES
    ),
)

METRICS: dict[str, MetricDef] = {
    one.id: one
    for one in (
        *_TIME,
        *_THROUGHPUT,
        *_LAUNCH,
        *_OCCUPANCY,
        *_BYTES,
        *_ACCESS,
        *_TRAFFIC,
        *_ISSUE,
        *_FLOPS,
        *_PEAKS,
    )
}


def definition_of(metric: str) -> MetricDef:
    """Return the definition of a metric id; raises `BadInput` with near names for an unknown one."""
    found = METRICS.get(metric)
    if found is None:
        near = difflib.get_close_matches(metric, METRICS, n=3)
        hint = f"did you mean {', '.join(near)}" if near else "see analysis/profile/vocabulary.py"
        raise BadInput(f"{metric!r} is no profile metric", fix=hint, code="KB201")
    return found
