"""The closed table of bottlenecks: classes, limiters, root causes, and the ordered rules that find them.

The first rule that fires names the primary bottleneck, later ones are ranked behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kopt_kb.doors.later import later

if TYPE_CHECKING:
    from kopt_kb.analysis.rules.base import Finding
    from kopt_kb.analysis.rules.derived import DerivedMetrics

__all__ = ["CLASSES", "LIMITERS", "ROOT_CAUSES", "RULES", "BottleneckClass", "Rule", "class_of"]

BottleneckClass = Literal[
    "memory-bound", "compute-bound", "latency-bound", "launch-bound", "communication", "balanced", "insufficient-data"
]

CLASSES: Mapping[BottleneckClass, tuple[str, ...]] = {
    "memory-bound": ("dram", "l2", "l1", "shared", "uncoalesced", "bank-conflict", "spill", "memory"),
    "compute-bound": ("tensor", "fp32", "fp64", "sfu", "int", "issue", "divergence", "compute"),
    "latency-bound": (
        "dependency",
        "barrier",
        "atomics",
        "occupancy-registers",
        "occupancy-shared",
        "occupancy-blocks",
        "small-grid",
        "tail",
        "imbalance",
        "latency",
    ),
    "launch-bound": ("launch-overhead",),
    "communication": ("communication",),
    "balanced": ("balanced",),
    "insufficient-data": ("insufficient-data",),
}
"""Limiters of each class."""

LIMITERS: Mapping[str, BottleneckClass] = {one: name for name, limiters in CLASSES.items() for one in limiters}
"""Class of each limiter."""

_BY_CAUSE = {
    "memory": ("dram", "l2", "l1", "shared", "uncoalesced", "bank-conflict", "memory"),
    "register_pressure": ("spill", "occupancy-registers"),
    "compute": ("tensor", "fp32", "fp64", "sfu", "int", "issue", "divergence", "compute"),
    "occupancy": ("occupancy-shared", "occupancy-blocks"),
    "latency": ("dependency", "barrier", "atomics", "latency"),
    "scheduling": ("small-grid", "tail", "imbalance", "launch-overhead", "communication"),
    "unknown": ("balanced", "insufficient-data"),
}
ROOT_CAUSES: Mapping[str, str] = {limiter: cause for cause, limiters in _BY_CAUSE.items() for limiter in limiters}
"""Root cause of each limiter; `scheduling` and `unknown` are the two that are escalated to the user."""


def class_of(limiter: str) -> BottleneckClass:
    """Return the class of a limiter; raises KeyError for a word outside the table."""
    return LIMITERS[limiter]


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the ordered list.

    Attributes:
        code: Stable code, `BN-…`.
        limiters: What it can find.
        needs: Metrics without which it can't decide.
        find: The rule, `family:function`, imported when it first judges: who asks for words needs no rule.
        summary: One sentence for `kb profile explain`.
        reads: Codes whose thresholds it reads besides its own.
        unrecorded: Limiters that no recording shows yet, each with the reason.
    """

    code: str
    limiters: tuple[str, ...]
    needs: tuple[str, ...]
    find: Callable[[DerivedMetrics], Finding | None]
    summary: str
    reads: tuple[str, ...] = ()
    unrecorded: Mapping[str, str] = field(default_factory=dict)


def _at(place: str) -> Callable[[DerivedMetrics], Finding | None]:
    find: Callable[[DerivedMetrics], Finding | None] = later(f"kopt_kb.analysis.rules.{place}")
    return find


_USE = ("sm_sol_pct", "memory_sol_pct", "dram_sol_pct", "l2_sol_pct", "l1_sol_pct")
_STALLS = ("stall.long_scoreboard", "stall.barrier", "stall.wait")

RULES: tuple[Rule, ...] = (
    Rule("BN-COMMUNICATION", ("communication",), (), _at("idle:find_communication"),
         "The kernel is a collective of a communication library."),
    Rule("BN-LAUNCH", ("launch-overhead",), ("duration_s",), _at("idle:find_launch_overhead"),
         "The kernel is about as short as an empty one and no unit is busy.", ("BN-SATURATED",)),
    Rule("BN-ATOMICS", ("atomics",), ("atomic_requests", "shared_atomic_instructions", *_STALLS),
         _at("waste:find_atomics"),
         "Atomics are a large part of the requests and warps wait for memory, while DRAM and arithmetic are free.",
         ("BN-SATURATED",)),
    Rule("BN-SMALL-GRID", ("small-grid",), ("grid_blocks", "sm_count", "sm_active_cycles"), _at("idle:find_small_grid"),
         "Fewer blocks than SMs, SMs stand idle, and no unit they share is busy.", ("BN-SATURATED",)),
    Rule("BN-TAIL", ("tail",), ("waves_per_sm", "sm_active_cycles", "achieved_occupancy_pct"), _at("idle:find_tail"),
         "The last wave fills a small part of the device, and the counters show the loss.", ("BN-SATURATED",)),
    Rule("BN-IMBALANCE", ("imbalance",), ("sm_active_cycles", "sm_active_cycles_max"), _at("idle:find_imbalance"),
         "Some SMs or warps work much longer than others.", ("BN-SATURATED",)),
    Rule("BN-SPILL", ("spill",), ("local_load_sectors", "local_store_sectors", *_STALLS), _at("waste:find_spill"),
         "Private memory is a large part of the traffic and warps wait for memory.", ("BN-SATURATED",)),
    Rule("BN-BANK-CONFLICT", ("bank-conflict",), ("shared_wavefronts", "shared_wavefronts_ideal"),
         _at("waste:find_bank_conflict"),
         "Shared memory is busy with passes that bank conflicts add.", ("BN-SATURATED",)),
    Rule("BN-BARRIER", ("barrier",), ("stall.barrier",), _at("waiting:find_barrier"),
         "Barriers are what warps wait for most, and neither DRAM nor a pipe is saturated.", ("BN-SATURATED",)),
    Rule("BN-UNCOALESCED", ("uncoalesced",),
         ("global_load_sectors", "global_load_useful_bytes_per_sector", "l2_bytes"), _at("waste:find_uncoalesced"),
         "Global accesses move more bytes than they use, on a path that is busy or waited for.",
         ("BN-OCCUPANCY", "BN-SATURATED")),
    Rule("BN-DIVERGENCE", ("divergence",), ("threads_per_instruction", "issue_active"), _at("busy:find_divergence"),
         "Few threads of a warp are active in an instruction, and instructions are what time goes to."),
    Rule("BN-BALANCED", ("balanced",), ("sm_sol_pct", "dram_sol_pct"), _at("busy:find_balanced"),
         "Arithmetic and DRAM are both busy and close together.", ("BN-SATURATED",)),
    Rule("BN-MEMORY", ("dram", "l2", "l1", "shared", "memory"), _USE, _at("busy:find_memory_level"),
         "A level of memory is the busiest unit; L2 that hands on DRAM's bytes counts as DRAM.",
         ("BN-L2", "BN-SATURATED")),
    Rule("BN-COMPUTE", ("tensor", "fp32", "fp64", "sfu", "int", "issue", "compute"),
         ("issue_active", "pipe.fma_pct"), _at("busy:find_pipe"),
         "An arithmetic pipe or the issue slots are the busiest unit.", ("BN-INT", "BN-ISSUE", "BN-SATURATED")),
    Rule("BN-OCCUPANCY", ("occupancy-registers", "occupancy-blocks", "occupancy-shared"),
         ("theoretical_occupancy_pct", "occupancy_limit.registers"), _at("waiting:find_occupancy"),
         "Few warps are resident because a resource runs out, and no unit is busy.", ("BN-SATURATED",)),
    Rule("BN-DEPENDENCY", ("dependency", "latency"), (*_STALLS, "sm_sol_pct", "memory_sol_pct"),
         _at("waiting:find_dependency"),
         "Warps wait for results while no unit is busy and nothing above explains it.", ("BN-SATURATED",)),
)  # fmt: skip
"""Most specific first: waste and idleness before the unit they load, busy units before waiting."""
