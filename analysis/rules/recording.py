"""What to record next where a report doesn't hold what a verdict needs: commands of the vendor's profiler."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.profile.amd_counters import counter_passes

__all__ = ["AMD_DECIDES", "amd_passes", "recording_of"]

_NAMELESS = frozenset({"insufficient-data", "compute", "memory", "latency"})
AMD_DECIDES = (
    "elapsed_cycles", "pipe_elapsed.valu_pct", "pipe_elapsed.tensor_pct", "pipe_elapsed.lds_pct", "shared_conflicts",
    "l1_sol_pct", "l2_sol_pct", "fabric_read_bytes", "fabric_write_bytes", "waiting_pct", "issue_waiting_pct",
    "memory_busy_pct", "lines_per_access", "threads_per_instruction", "warps_launched",
)  # fmt: skip
"""Metrics by which a report of AMD's tools is judged."""
_NAME_CHARS = 200  # the beginning of a name finds it too
_PROGRAM = "-- PROGRAM"


def recording_of(profile: KernelProfile, limiter: str) -> tuple[str, ...]:
    """Return the commands that record what is missing, one a run of the program; empty for a verdict that names a unit.

    Args:
        profile: What was recorded.
        limiter: Word of the closed table that it led to.
    """
    if limiter not in _NAMELESS:
        return ()
    name = shlex.quote(re.escape(profile.function[:_NAME_CHARS]))
    if profile.source.vendor == "nvidia":
        return (f"ncu --set full --kernel-name regex:{name} --launch-count 1 --export profile PROGRAM",)
    return amd_passes(profile.target, profile.absent(*AMD_DECIDES), name)


def amd_passes(target: str, metrics: Collection[str] = AMD_DECIDES, name: str = ".") -> tuple[str, ...]:
    """Return the commands of rocprofv3 that record metrics, one a run of the program.

    Args:
        target: `gfx942`, ….
        metrics: What is wanted.
        name: Regular expression of the kernels, quoted for a shell.
    """
    return tuple(
        f"rocprofv3 --pmc {' '.join(one)} --kernel-include-regex {name} --output-format csv -d pass_{number} {_PROGRAM}"
        for number, one in enumerate(counter_passes(target, metrics), 1)
    )
