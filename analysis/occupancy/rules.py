"""A residency rule: which limits it reads, when it applies, and how many blocks it allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kopt_kb.analysis.occupancy.limits import Limiter, Limits, Resources
from kopt_kb.base.errors import UnknownData

__all__ = ["ResourceRule", "by_blocks", "by_warps", "known", "larger_cluster", "none_fits", "warps_per_block"]


def known(have: Limits, name: str) -> int:
    """Return that limit as a number; raises `UnknownData` when it is UNKNOWN."""
    value: int | None = getattr(have, name)
    if value is None:
        raise UnknownData(
            f"{name} is UNKNOWN", where="occupancy", fix="add the row to the target's wiki page", code="KB130"
        )
    return value


def warps_per_block(use: Resources, have: Limits) -> int:
    """Return the warps a block takes, the last one possibly partly filled."""
    return -(-use.threads_per_block // known(have, "warp_size"))


def by_warps(use: Resources, have: Limits) -> int:
    """Return the blocks an SM holds by its warps; none of a block with too many threads."""
    if use.threads_per_block > known(have, "threads_per_block"):
        return 0
    return known(have, "resident_warps") // warps_per_block(use, have)


def by_blocks(_: Resources, have: Limits) -> int:
    """Return the blocks an SM holds whatever they take."""
    return known(have, "blocks_per_sm")


def larger_cluster(use: Resources, have: Limits) -> bool:
    """Return whether a kernel has more blocks in a cluster than there may be, or than is known.

    How many clusters are resident at once depends on how many SMs of a GPC are there, which no document gives by part:
    a cluster that fits changes nothing here.
    """
    return use.blocks_per_cluster > max(have.cluster_size or 1, 1)


def none_fits(_use: Resources, _have: Limits) -> int:
    """Return no block."""
    return 0


def _always(_use: Resources, _have: Limits) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """One resource of an SM and the blocks it allows.

    Attributes:
        limiter: Name of the resource.
        needs: Limits that must be known; attributes of `Limits`.
        blocks: Blocks an SM can hold by this resource alone.
        knob: What to use less of for one more block; empty when nothing helps.
        used: Whether the kernel touches the resource at all.
    """

    limiter: Limiter
    needs: tuple[str, ...]
    blocks: Callable[[Resources, Limits], int]
    knob: str = ""
    used: Callable[[Resources, Limits], bool] = _always

    def missing(self, have: Limits) -> tuple[str, ...]:
        """Return the names of the limits that are UNKNOWN."""
        return tuple(name for name in self.needs if getattr(have, name) is None)

    def applies(self, use: Resources, have: Limits) -> bool:
        """Return whether the kernel uses the resource and every limit is known."""
        return not self.missing(have) and self.used(use, have)
