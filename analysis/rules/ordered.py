"""The ordered list of rules: the first that fires names the primary bottleneck, later ones are ranked behind it."""

from __future__ import annotations

from kopt_kb.analysis.rules.base import Rule
from kopt_kb.analysis.rules.busy import find_balanced, find_divergence, find_memory_level, find_pipe
from kopt_kb.analysis.rules.idle import (
    find_communication,
    find_imbalance,
    find_launch_overhead,
    find_small_grid,
    find_tail,
)
from kopt_kb.analysis.rules.waiting import find_barrier, find_dependency, find_occupancy
from kopt_kb.analysis.rules.waste import find_atomics, find_bank_conflict, find_spill, find_uncoalesced

__all__ = ["RULES"]

_USE = ("sm_sol_pct", "memory_sol_pct", "dram_sol_pct", "l2_sol_pct", "l1_sol_pct")
_STALLS = ("stall.long_scoreboard", "stall.barrier", "stall.wait")

RULES: tuple[Rule, ...] = (
    Rule("BN-COMMUNICATION", ("communication",), (), find_communication,
         "The kernel is a collective of a communication library."),
    Rule("BN-LAUNCH", ("launch-overhead",), ("duration_s",), find_launch_overhead,
         "The kernel is about as short as an empty one and no unit is busy.", ("BN-SATURATED",)),
    Rule("BN-ATOMICS", ("atomics",), ("atomic_requests", "shared_atomic_instructions", *_STALLS), find_atomics,
         "Atomics are a large part of the requests and warps wait for memory, while DRAM and arithmetic are free.",
         ("BN-SATURATED",)),
    Rule("BN-SMALL-GRID", ("small-grid",), ("grid_blocks", "sm_count", "sm_active_cycles"), find_small_grid,
         "Fewer blocks than SMs, SMs stand idle, and no unit they share is busy.", ("BN-SATURATED",)),
    Rule("BN-TAIL", ("tail",), ("waves_per_sm", "sm_active_cycles", "achieved_occupancy_pct"), find_tail,
         "The last wave fills a small part of the device, and the counters show the loss.", ("BN-SATURATED",)),
    Rule("BN-IMBALANCE", ("imbalance",), ("sm_active_cycles", "sm_active_cycles_max"), find_imbalance,
         "Some SMs or warps work much longer than others.", ("BN-SATURATED",)),
    Rule("BN-SPILL", ("spill",), ("local_load_sectors", "local_store_sectors", *_STALLS), find_spill,
         "Private memory is a large part of the traffic and warps wait for memory.", ("BN-SATURATED",)),
    Rule("BN-BANK-CONFLICT", ("bank-conflict",), ("shared_wavefronts", "shared_wavefronts_ideal"), find_bank_conflict,
         "Shared memory is busy with passes that bank conflicts add.", ("BN-SATURATED",)),
    Rule("BN-BARRIER", ("barrier",), ("stall.barrier",), find_barrier,
         "Barriers are what warps wait for most, and neither DRAM nor a pipe is saturated.", ("BN-SATURATED",)),
    Rule("BN-UNCOALESCED", ("uncoalesced",),
         ("global_load_sectors", "global_load_useful_bytes_per_sector", "l2_bytes"), find_uncoalesced,
         "Global accesses move more bytes than they use, on a path that is busy or waited for.",
         ("BN-OCCUPANCY", "BN-SATURATED")),
    Rule("BN-DIVERGENCE", ("divergence",), ("threads_per_instruction", "issue_active"), find_divergence,
         "Few threads of a warp are active in an instruction, and instructions are what time goes to."),
    Rule("BN-BALANCED", ("balanced",), ("sm_sol_pct", "dram_sol_pct"), find_balanced,
         "Arithmetic and DRAM are both busy and close together.", ("BN-SATURATED",)),
    Rule("BN-MEMORY", ("dram", "l2", "l1", "shared", "memory"), _USE, find_memory_level,
         "A level of memory is the busiest unit; L2 that hands on DRAM's bytes counts as DRAM.",
         ("BN-L2", "BN-SATURATED")),
    Rule("BN-COMPUTE", ("tensor", "fp32", "fp64", "sfu", "int", "issue", "compute"),
         ("issue_active", "pipe.fma_pct"), find_pipe,
         "An arithmetic pipe or the issue slots are the busiest unit.", ("BN-INT", "BN-ISSUE", "BN-SATURATED")),
    Rule("BN-OCCUPANCY", ("occupancy-registers", "occupancy-blocks", "occupancy-shared"),
         ("theoretical_occupancy_pct", "occupancy_limit.registers"), find_occupancy,
         "Few warps are resident because a resource runs out, and no unit is busy.", ("BN-SATURATED",)),
    Rule("BN-DEPENDENCY", ("dependency", "latency"), (*_STALLS, "sm_sol_pct", "memory_sol_pct"), find_dependency,
         "Warps wait for results while no unit is busy and nothing above explains it.", ("BN-SATURATED",)),
)  # fmt: skip
"""Most specific first: waste and idleness before the unit they load, busy units before waiting."""
