"""What rules look at: use of each unit, waste, waiting and idleness, derived from one profile.

Every property is None when a counter it needs was not collected: missing is not zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kopt_kb.analysis.evidence import Threshold
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.thresholds import Thresholds

__all__ = ["COMPUTE_PIPES", "MEMORY_STALLS", "DerivedMetrics", "ratio_pct"]

COMPUTE_PIPES = {
    "tensor": "tensor",
    "fma": "fp32",
    "fp16": "fp32",
    "valu": "fp32",
    "fp64": "fp64",
    "xu": "sfu",
    "alu": "int",
}
"""Pipes that do arithmetic, and the limiter a busy one stands for."""
MEMORY_STALLS = frozenset(
    {
        "long_scoreboard",
        "short_scoreboard",
        "lg_throttle",
        "mio_throttle",
        "tex_throttle",
        "drain",
        "membar",
        "vector_memory",
        "scalar_memory",
    }
)
_NO_REASON = frozenset({"not_selected", "selected", "any", "issue"})
"""Warps that could issue, and AMD's totals over all reasons."""
_QUADS = 16  # groups of four lanes in an AMD wave
_SECTORS_PER_PASS = 4  # a pass through the L1 data stage serves four sectors


def ratio_pct(part: float | None, whole: float | None) -> float | None:
    """Return 100 part / whole, None when either is missing or the whole is 0."""
    return None if part is None or not whole else 100 * part / whole


def _largest(values: Iterable[float | None]) -> float | None:
    return max((one for one in values if one is not None), default=None)


@dataclass(frozen=True)
class DerivedMetrics:
    """A profile with the thresholds it is judged by.

    Attributes:
        profile: What was measured.
        thresholds: Rows of the wiki.
        dram_peak_bytes_per_s: Documented bandwidth of the platform, for reports without a DRAM share.
    """

    profile: KernelProfile
    thresholds: Thresholds
    dram_peak_bytes_per_s: float | None = None

    def get(self, metric: str) -> float | None:
        """Return a profile metric, None when not collected."""
        return self.profile.metrics.get(metric)

    def limit(self, code: str, metric: str) -> Threshold:
        """Return the threshold of a rule."""
        return self.thresholds.row(code, metric)

    def saturated(self, use_pct: float | None, row: str = "use_pct") -> bool:
        """Return whether a use reaches the threshold of a limiting (`use_pct`) or high unit (`high_use_pct`)."""
        return use_pct is not None and self.limit("BN-SATURATED", row).met(use_pct)

    # use of units, in % of peak over the elapsed time

    @cached_property
    def active_share(self) -> float:
        """Mean active share of SM time; 1 when not collected."""
        value = self.get("sm_active_pct")
        return 1.0 if value is None else min(1.0, value / 100)

    def _elapsed(self, pipe: str) -> float | None:
        value = self.get(f"pipe_elapsed.{pipe}_pct")
        if value is not None:
            return value
        active = self.get(f"pipe.{pipe}_pct")
        return None if active is None else active * self.active_share

    @cached_property
    def pipes(self) -> dict[str, float]:
        """Use of each arithmetic pipe that was measured."""
        found = {one: self._elapsed(one) for one in COMPUTE_PIPES}
        return {one: value for one, value in found.items() if value is not None}

    @cached_property
    def issue_pct(self) -> float | None:
        """Issue slots used while an SM is active."""
        value = self.get("issue_active")
        return None if value is None else 100 * value

    @cached_property
    def compute_pct(self) -> float | None:
        """Busiest arithmetic pipe or the issue slots, over elapsed time."""
        issue = None if self.issue_pct is None else self.issue_pct * self.active_share
        return _largest([*self.pipes.values(), issue, self.unnamed_unit_pct])

    @cached_property
    def unnamed_unit_pct(self) -> float | None:
        """The tool's compute throughput where counters name no unit for it and memory instructions don't explain it.

        With pipes and issue slots counted only a half-rate multiply-add path is left: warps wait for a math pipe.
        Without them it may be any of them.
        """
        use = self.get("sm_sol_pct")
        memory = _largest([self.get(f"pipe{span}.{one}_pct") for span in ("", "_elapsed") for one in ("lsu", "adu")])
        if use is None or (memory is not None and memory >= use):
            return None
        if self.issue_pct is None or not self.pipes:
            return use
        waits = self.stall_share_pct({"math_pipe_throttle"})
        return use if waits is not None and self.limit("BN-BARRIER", "barrier_share_pct").met(waits) else None

    @cached_property
    def l1_or_compute(self) -> bool:
        """Whether L1 and the SM are both busy and nothing tells which one waits for the other.

        Instructions that load the L1 unit count as compute throughput too, and operands of a matrix product load L1.
        """
        use, unit = self.unnamed_unit_pct, self.l1_pct
        if self.pipes or use is None or unit is None or unit < (self.device_pct or 0.0):
            return False
        near = self.limit("BN-BALANCED", "apart_pct").met(abs(use - unit))
        return near and self.saturated(use) and self.saturated(unit)

    @cached_property
    def dram_pct(self) -> float | None:
        """DRAM throughput: the tool's, else achieved over what the tool measured as peak or the platform documents."""
        value = self.get("dram_sol_pct")
        if value is not None:
            return value
        rate = self.profile.rate("dram_bytes")
        peak = self.get("run_peak.dram_bytes_per_s") or self.dram_peak_bytes_per_s
        return ratio_pct(self.get("dram_bytes_per_s") if rate is None else rate, peak)

    def _share_of_run_peak(self, level: str) -> float | None:
        return ratio_pct(self.profile.rate(f"{level}_bytes"), self.get(f"run_peak.{level}_bytes_per_s"))

    @cached_property
    def l2_pct(self) -> float | None:
        """L2 throughput."""
        return _largest([self.get("l2_sol_pct"), self._share_of_run_peak("l2")])

    @cached_property
    def l2_passes_through(self) -> bool:
        """Whether most bytes at L2 come from or go to DRAM, so that its throughput is DRAM's."""
        share = ratio_pct(self.get("dram_bytes"), self.get("l2_bytes"))
        if share is None:
            share = ratio_pct(self.dram_pct, self.l2_pct)
        return share is not None and not self.limit("BN-L2", "passes_through_pct").met(share)

    @cached_property
    def stream_pct(self) -> float | None:
        """Use of the path to DRAM: DRAM, or L2 where it only hands on."""
        return _largest([self.dram_pct, self.l2_pct if self.l2_passes_through else None])

    @cached_property
    def l1_pct(self) -> float | None:
        """Use of the L1 unit, which on NVIDIA is shared memory too, over elapsed time."""
        unit, whole = self.get("l1_sol_pct"), self.get("memory_sol_pct")
        if unit is not None:
            unit = min(unit * self.active_share, whole if whole is not None else unit)
        return _largest([unit, self._elapsed("lsu")])

    @cached_property
    def lds_pct(self) -> float | None:
        """Use of a shared memory of its own (AMD LDS): active cycles, or bytes over the peak the tool measured."""
        return _largest([self._elapsed("lds"), self._share_of_run_peak("shared")])

    @cached_property
    def memory_pct(self) -> float | None:
        """Busiest level of memory, the tool's own maximum when no level was measured."""
        levels = _largest([self.dram_pct, self.l2_pct, self.l1_pct, self.lds_pct])
        return self.get("memory_sol_pct") if levels is None else levels

    @cached_property
    def busy(self) -> bool:
        """Whether any unit reaches the threshold of a limiting one."""
        uses = (self.compute_pct, self.stream_pct, self.l2_pct, self.l1_pct, self.lds_pct, self.memory_pct)
        return any(self.saturated(one) for one in uses)

    @cached_property
    def device_pct(self) -> float | None:
        """Busiest unit that all SMs share: idle SMs do not idle it."""
        return _largest([self.dram_pct, self.l2_pct])

    # shared memory and global access

    @cached_property
    def shared_passes(self) -> float | None:
        """Passes through shared memory, from instructions or from counters."""
        return self.get("shared_wavefronts") or self.get("shared_accesses")

    @cached_property
    def shared_excess_pct(self) -> float | None:
        """Share of the passes that exist because of bank conflicts."""
        passes, ideal = self.get("shared_wavefronts"), self.get("shared_wavefronts_ideal")
        if passes and ideal is not None:
            return 100 * max(0.0, 1 - ideal / passes)
        extra, accesses = self.get("shared_conflicts"), self.get("shared_accesses")
        if extra is not None and accesses is not None:
            return ratio_pct(extra, extra + accesses)
        parts = [
            self.get(f"shared_{kind}_{what}") for what in ("conflicts", "wavefronts") for kind in ("load", "store")
        ]
        if None in parts:
            return None
        numbers = [one or 0.0 for one in parts]
        return ratio_pct(numbers[0] + numbers[1], numbers[2] + numbers[3])

    @cached_property
    def shared_share_pct(self) -> float | None:
        """Share of shared memory in the passes through the L1 data stage."""
        passes = self.shared_passes
        if passes is None:
            return None
        lookups = [self.get(f"{space}_{kind}_sectors") for space in ("global", "local") for kind in ("load", "store")]
        other = sum(one for one in lookups if one is not None) / _SECTORS_PER_PASS
        return ratio_pct(passes, passes + other)

    @cached_property
    def shared_use_pct(self) -> float | None:
        """Use of shared memory: its own, or its part of L1's; all of L1's where the passes were not counted."""
        use, share = self.l1_pct, self.shared_share_pct
        if self.lds_pct is not None or use is None:
            return self.lds_pct
        return use if share is None else use * share / 100

    @cached_property
    def mostly_shared(self) -> bool:
        """Whether shared memory is what L1 is busy with."""
        share = self.shared_share_pct
        return share is not None and share > 100 - share

    @cached_property
    def coalescing_waste(self) -> float | None:
        """Bytes moved for global accesses over bytes they use.

        Where L1 is not the busy unit, bytes that arrive from L2: sectors fetched once and used by several
        instructions are no waste. Where it is, bytes of the sectors looked up. Never more than the sectors that the
        addresses of a warp need over the sectors they could do with: lanes that share an address are no waste.

        AMD counts the lines that accesses look up: one for four lanes side by side, whatever they load.
        """
        lines = self.get("lines_per_access")
        if lines is not None:
            return max(1.0, lines / _QUADS)
        useful = looked_up = 0.0
        for kind in ("load", "store"):
            sectors = self.get(f"global_{kind}_sectors")
            touched, used = self.get(f"global_{kind}_bytes"), self.get(f"global_{kind}_useful_bytes_per_sector")
            if sectors and touched is not None and used is not None:
                needed = touched if self._one_sector(kind) else sectors * used
                useful, looked_up = useful + needed, looked_up + touched
        asked, ideal = self.get("l2_global_sectors"), self.get("l2_global_sectors_ideal")
        by_address = asked / ideal if asked is not None and ideal else None
        if not useful:
            return by_address
        moved, hits_pct = self.get("l2_bytes"), self.get("l1_hit_pct")
        if moved is None and hits_pct is not None:
            moved = max(useful, looked_up * (1 - hits_pct / 100))
        if moved is None or (self.l1_pct or 0.0) >= (self.device_pct or 0.0):
            moved = looked_up
        by_bytes = min(moved, looked_up) / useful
        return by_bytes if by_address is None else min(by_bytes, by_address)

    def _one_sector(self, kind: str) -> bool:
        """Whether each request touches one sector, as when a warp reads one address: nothing to coalesce."""
        value = self.get(f"global_{kind}_sectors_per_request")
        return value is not None and value <= 1

    @cached_property
    def local_share_pct(self) -> float | None:
        """Share of local (private) sectors among local and global ones at L1."""
        local = [self.get(f"local_{kind}_sectors") for kind in ("load", "store")]
        if None in local:
            return None
        mine = sum(one or 0.0 for one in local)
        others = sum(self.get(f"global_{kind}_sectors") or 0.0 for kind in ("load", "store"))
        return ratio_pct(mine, mine + others)

    @cached_property
    def atomic_share_pct(self) -> float | None:
        """Share of atomics among global requests or among shared instructions, whichever is larger."""
        return _largest([self._global_atomic_pct, self._shared_atomic_pct])

    @cached_property
    def atomic_instructions_pct(self) -> float | None:
        """Share of atomics among executed instructions."""
        parts = [self.get("atomic_requests"), self.get("shared_atomic_instructions")]
        known = [one for one in parts if one is not None]
        return ratio_pct(sum(known), self.get("instructions")) if known else None

    @cached_property
    def _global_atomic_pct(self) -> float | None:
        mine = self.get("atomic_requests")
        if mine is None:
            return None
        others = sum(self.get(f"global_{kind}_requests") or 0.0 for kind in ("load", "store"))
        return ratio_pct(mine, mine + others) if mine else 0.0

    @cached_property
    def _shared_atomic_pct(self) -> float | None:
        mine = self.get("shared_atomic_instructions")
        if not mine:
            return mine
        plain = sum(self.get(f"shared_{kind}_instructions") or 0.0 for kind in ("load", "store"))
        requests = sum(self.get(f"global_{kind}_requests") or 0.0 for kind in ("load", "store"))
        return ratio_pct(mine, mine + plain + requests)

    # waiting

    def stall_share_pct(self, reasons: Iterable[str]) -> float | None:
        """Return the share of the time a warp waits or issues that some stall reasons take, None without counters."""
        waits = {one: value for one, value in self.profile.stalls.items() if one not in _NO_REASON}
        total = sum(waits.values()) + 1.0  # the cycle in which it issues
        kept = set(reasons)  # added in the order of `waits`: a sum of floats depends on it
        return ratio_pct(sum(value for reason, value in waits.items() if reason in kept), total) if waits else None

    @cached_property
    def memory_stall_share_pct(self) -> float | None:
        """Share of a warp's time spent waiting for the memory path."""
        value = self.get("waiting_pct")
        return self.stall_share_pct(MEMORY_STALLS) if value is None else value

    @cached_property
    def top_stall(self) -> str | None:
        """The stall reason that takes most time; warps that could issue are not stalled."""
        return next((one for one in self.profile.stalls if one not in _NO_REASON), None)

    # idleness

    @cached_property
    def idle_sm_pct(self) -> float | None:
        """Share of SM time without a block, measured against the busiest SM."""
        mean, most = self.get("sm_active_cycles"), self.get("sm_active_cycles_max")
        if mean is not None and most:
            return 100 * (1 - mean / most)
        share = self.get("sm_active_pct")
        if share is not None:
            return max(0.0, 100 - share)
        blocks, sms = self.get("grid_blocks"), self.get("sm_count")
        return None if blocks is None or not sms or blocks >= sms else 100 * (1 - blocks / sms)

    @cached_property
    def occupancy_kept_pct(self) -> float | None:
        """Achieved over theoretical occupancy."""
        return ratio_pct(self.get("achieved_occupancy_pct"), self.get("theoretical_occupancy_pct"))

    @cached_property
    def busy_while_active_pct(self) -> float | None:
        """Busiest unit of an SM while it has work."""
        local = _largest([self.compute_pct, self.l1_pct])
        idle = self.idle_sm_pct
        if local is None or idle is None or idle >= 100:
            return None
        return min(100.0, local / (1 - idle / 100))
