"""Rules for SMs without work: tiny launches, small grids, tails, imbalance."""

from __future__ import annotations

import math

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import DerivedMetrics

__all__ = [
    "find_communication",
    "find_imbalance",
    "find_launch_overhead",
    "find_small_grid",
    "find_tail",
    "part_wave_evidence",
]


def find_communication(kernel: DerivedMetrics) -> Finding | None:
    """Find collectives of NCCL and RCCL by name: they wait for links and for other devices, whatever units say."""
    if kernel.profile.role != "communication":
        return None
    launches = Evidence(
        "launches", kernel.profile.launch_count, "1", None, f"of the collective {kernel.profile.function}"
    )
    return Finding("BN-COMMUNICATION", "communication", (launches,))


def find_launch_overhead(kernel: DerivedMetrics) -> Finding | None:
    """Find kernels so short that starting them is what they cost."""
    duration_s = kernel.profile.duration_s
    if duration_s is None:
        return None
    need = kernel.limit("BN-LAUNCH", "duration_s")
    if not need.met(duration_s) or kernel.saturated(kernel.compute_pct) or kernel.saturated(kernel.device_pct):
        return None
    return Finding(
        "BN-LAUNCH",
        "launch-overhead",
        (Evidence("duration_s", duration_s, "s", need, "about what an empty kernel takes"),),
    )


def _device_busy(kernel: DerivedMetrics) -> bool:
    """A unit that all SMs share is busy, or a unit of the SMs is high although some are idle."""
    return kernel.saturated(kernel.device_pct) or kernel.saturated(kernel.compute_pct, "high_use_pct")


def find_small_grid(kernel: DerivedMetrics) -> Finding | None:
    """Find grids that leave SMs or most of their warp slots empty.

    A persistent grid is sized for the SMs: it has the same number of blocks for each.
    """
    blocks, sms = kernel.get("grid_blocks"), kernel.get("sm_count")
    if not blocks or not sms or blocks % sms == 0 or _device_busy(kernel):
        return None
    return (_idle_sms(kernel, blocks, sms) if blocks < sms else None) or _part_wave(kernel)


def _idle_sms(kernel: DerivedMetrics, blocks: float, sms: float) -> Finding | None:
    code = "BN-SMALL-GRID"
    idle, need = kernel.idle_sm_pct, kernel.limit(code, "idle_sm_pct")
    if idle is None or not need.met(idle):
        return None
    return Finding(
        code,
        "small-grid",
        (
            Evidence("grid_blocks", blocks, "1", None, f"fewer blocks than the {sms:g} SMs"),
            Evidence("idle_sm_pct", idle, "%", need, "SM time without a block"),
        ),
    )


def _part_wave(kernel: DerivedMetrics) -> Finding | None:
    proof = part_wave_evidence(kernel)
    return None if kernel.busy or not proof else Finding("BN-SMALL-GRID", "small-grid", proof)


def part_wave_evidence(kernel: DerivedMetrics) -> tuple[Evidence, ...]:
    """Return the proof of a grid below a wave that reaches far fewer warps than its launch allows; empty without."""
    waves, kept = kernel.get("waves_per_sm"), kernel.occupancy_kept_pct
    few, far = (kernel.limit("BN-SMALL-GRID", one) for one in ("waves_per_sm", "occupancy_kept_pct"))
    if waves is None or kept is None or not few.met(waves) or not far.met(kept):
        return ()
    return (
        Evidence("waves_per_sm", waves, "1", few, "the blocks don't fill the SMs"),
        Evidence("occupancy_kept_pct", kept, "%", far, "achieved over theoretical occupancy"),
    )


def find_tail(kernel: DerivedMetrics) -> Finding | None:
    """Find a last wave that leaves most of the device idle."""
    code = "BN-TAIL"
    waves, idle = kernel.get("waves_per_sm"), kernel.idle_sm_pct
    if waves is None or waves < 1 or idle is None or _device_busy(kernel):
        return None
    predicted = 100 * (1 - waves / math.ceil(waves))
    kept = kernel.occupancy_kept_pct
    loss = idle
    if kept is not None and not kernel.saturated(kernel.busy_while_active_pct, "high_use_pct"):
        loss = 100 - (100 - idle) * min(kept, 100.0) / 100
    need, seen = kernel.limit(code, "predicted_tail_pct"), kernel.limit(code, "tail_loss_pct")
    if not need.met(predicted) or not seen.met(loss) or 2 * loss < predicted:
        return None
    return Finding(
        code,
        "tail",
        (
            Evidence("waves_per_sm", waves, "1", None, "the last wave is partly filled"),
            Evidence("predicted_tail_pct", predicted, "%", need, "capacity the last wave leaves unused"),
            Evidence("tail_loss_pct", loss, "%", seen, "what the counters show of it"),
        ),
    )


def find_imbalance(kernel: DerivedMetrics) -> Finding | None:
    """Find SMs that finish early, or warps that leave their block early."""
    code = "BN-IMBALANCE"
    if _device_busy(kernel):
        return None
    idle, busy = kernel.idle_sm_pct, kernel.busy_while_active_pct
    some, alone = kernel.limit(code, "idle_sm_pct"), kernel.limit(code, "idle_sm_alone_pct")
    active = kernel.limit(code, "busy_while_active_pct")
    if idle is not None and alone.met(idle):
        return Finding(code, "imbalance", (Evidence("idle_sm_pct", idle, "%", alone, "SMs that wait for the last"),))
    if idle is not None and busy is not None and some.met(idle) and active.met(busy):
        return Finding(
            code,
            "imbalance",
            (
                Evidence("idle_sm_pct", idle, "%", some, "SMs that wait for the last"),
                Evidence("busy_while_active_pct", busy, "%", active, "busiest unit of an SM that has work"),
            ),
        )
    return _within_blocks(kernel)


def _within_blocks(kernel: DerivedMetrics) -> Finding | None:
    code = "BN-IMBALANCE"
    kept, waves = kernel.occupancy_kept_pct, kernel.get("waves_per_sm")
    need = kernel.limit(code, "occupancy_kept_pct")
    if kept is None or waves is None or waves < 1 or not need.met(kept) or kernel.saturated(kernel.compute_pct):
        return None
    if kernel.saturated(kernel.memory_pct):
        return None
    return Finding(
        code,
        "imbalance",
        (Evidence("occupancy_kept_pct", kept, "%", need, "warps that end long before their block"),),
    )
