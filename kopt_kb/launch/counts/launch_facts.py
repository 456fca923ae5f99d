"""What recorded launches take of a device, read from the bytes that are launched: the facts that a search may use.

Nothing is run. Of several launches each fact is that of the worst kernel, and blocks are those of the largest grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kopt_kb.analysis.gap.spent import wave_loss_pct
from kopt_kb.analysis.occupancy.limits import Limits, Resources
from kopt_kb.analysis.occupancy.occupancy import occupancy
from kopt_kb.base.wire import Wire
from kopt_kb.launch.cuda.cubin import read_cubin
from kopt_kb.launch.record.model import LaunchRecord

__all__ = ["LaunchFacts", "launch_facts"]


@dataclass(frozen=True, slots=True)
class LaunchFacts(Wire):
    """What the launches of a record take.

    Attributes:
        registers: Registers of a thread, the most of all kernels.
        stack_bytes: Local memory of a thread, the most: what a kernel without arrays of its own spills.
        shared_bytes: Shared memory of a block, static and dynamic, the most.
        blocks_per_sm: Resident blocks of an SM, the least; 0: a kernel can't be launched.
        occupancy_pct: Resident warps over those that an SM holds, the least.
        blocks: Blocks of the largest grid.
        limits: Rows that residency was computed from, as `name=value <- citation`.
    """

    registers: int
    stack_bytes: int
    shared_bytes: int
    blocks_per_sm: int
    occupancy_pct: float
    blocks: int
    limits: tuple[str, ...] = ()

    def waves(self, sms: int | None) -> float | None:
        """Return blocks over those that are resident at once on so many SMs; None when either is not known."""
        resident = self.blocks_per_sm * (sms or 0)
        return self.blocks / resident if resident else None

    def grid_loss_pct(self, sms: int | None) -> float | None:
        """Return the share of SM time that the grid leaves without a block, in percent; None when it is not known."""
        return wave_loss_pct(self.blocks, sms, self.waves(sms))


def launch_facts(record: LaunchRecord, code: Callable[[str], bytes], limits: Limits) -> LaunchFacts | None:
    """Return what a record's launches take; None of a record without launches or of another vendor's target.

    Args:
        record: The record.
        code: Returns a code object by sha256.
        limits: Sourced limits; UNKNOWN ones are left out.

    Raises:
        BadInput: A code object is none.
    """
    if not record.target.startswith("sm_") or not record.launches:
        return None
    cubins = {digest: read_cubin(code(digest), f"objects/{digest}") for digest in record.codes}
    found = None
    for step in record.launches:
        entry = cubins[step.code].entries.get(step.entry)
        if entry is None:
            return None
        used = Resources(
            threads_per_block=math.prod(step.block), registers_per_thread=entry.registers,
            shared_static_bytes=entry.shared_bytes, shared_dynamic_bytes=step.shared_bytes,
            barriers=max(entry.barriers, 1),
        )  # fmt: skip
        fits = occupancy(used, limits, allow_unknown=True)
        one = LaunchFacts(
            entry.registers, entry.stack_bytes, used.shared_bytes, fits.blocks_per_sm, round(fits.occupancy_pct, 2),
            math.prod(step.grid), fits.sources,
        )  # fmt: skip
        found = one if found is None else _worst(found, one)
    return found


def _worst(one: LaunchFacts, other: LaunchFacts) -> LaunchFacts:
    least = min(one, other, key=lambda each: each.blocks_per_sm)
    return LaunchFacts(
        max(one.registers, other.registers), max(one.stack_bytes, other.stack_bytes),
        max(one.shared_bytes, other.shared_bytes), least.blocks_per_sm, min(one.occupancy_pct, other.occupancy_pct),
        max(one.blocks, other.blocks), least.limits,
    )  # fmt: skip
