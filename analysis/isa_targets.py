"""What good machine code of a tuned kernel shows, by vendor: the goals a workspace tracks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["IsaTarget", "isa_targets"]


@dataclass(frozen=True, slots=True)
class IsaTarget:
    """One goal.

    Attributes:
        code: Stable name.
        metric: What is counted, in the field's words.
        condition: When the goal is met.
        reason: Why it matters.
    """

    code: str
    metric: str
    condition: str
    reason: str


_SHARED = (
    IsaTarget("spill", "register spill bytes", "= 0", "a spill is traffic to local memory that no roofline counts"),
    IsaTarget("scratch", "scratch or local loads and stores", "= 0", "an array indexed at run time left the registers"),
)

_TABLE: dict[str, tuple[IsaTarget, ...]] = {
    "NVIDIA": (
        IsaTarget("wide-global", "share of global loads of 128 bit, by bytes", ">= 90 %", "one 16-byte load a thread fills a line with a quarter of the requests"),
        IsaTarget("wide-shared", "share of shared loads and stores of 128 bit, by bytes", ">= 90 %", "narrow accesses take more wavefronts of the shared-memory pipe"),
        IsaTarget("matrix", "matrix instructions of the target's own generation", ">= 1 where the op is matrix work", "older matrix instructions reach a part of the peak only"),
        IsaTarget("bulk-copy", "tiles loaded by bulk or asynchronous copies", ">= 1 where tiles are staged", "staging through registers costs issue slots and registers"),
        IsaTarget("bank-conflict", "shared bank conflicts per wavefront", "< 10 %", "the profiler's own rule warns from there"),
        *_SHARED,
    ),
    "AMD": (
        IsaTarget("wide-global", "share of dwordx4 among global and buffer loads, by bytes", ">= 90 %", "16 bytes a lane is the widest vector memory access"),
        IsaTarget("wide-lds", "share of ds_*_b128 among LDS accesses, by bytes", ">= 90 %", "narrow accesses take more LDS cycles"),
        IsaTarget("matrix", "MFMA instructions", ">= 1 where the op is matrix work", "the vector unit reaches a fraction of the matrix peak"),
        IsaTarget("bpermute", "ds_bpermute", "= 0 in the main loop", "cross-lane moves through LDS stall the wave"),
        IsaTarget("bank-conflict", "SQ_LDS_BANK_CONFLICT per LDS access", "< 10 %", "conflicts serialise LDS accesses"),
        *_SHARED,
    ),
}  # fmt: skip


def isa_targets(vendor: str) -> tuple[IsaTarget, ...]:
    """Return the goals for a vendor's kernels; none for a vendor that is not known."""
    return _TABLE.get(vendor, ())
