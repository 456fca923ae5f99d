"""How often a cache is found in a training loop: four steps on paper, eight steps counted while they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.packs.training_step.caches import CacheUse

__all__ = ["LEAST_HIT_PCT", "PAPER_STEPS", "RUN_STEPS", "TransferTrace", "paper_trace", "verdict_of_run"]

PAPER_STEPS, RUN_STEPS = 4, 8
LEAST_HIT_PCT = 50.0
"""A cache that is found in fewer lookups is rolled back; exactly half, a weight's forward and backward, is enough."""


@dataclass(frozen=True, slots=True)
class TransferTrace(Wire):
    """Lookups of a cache in a training loop and how many found something."""

    steps: int
    lookups: int
    hits: int

    @property
    def hit_pct(self) -> float:
        """Share of lookups that found something, in percent; of none, none."""
        return 100.0 * self.hits / self.lookups if self.lookups else 0.0

    @property
    def enough(self) -> bool:
        """Whether the cache may stay; the comparison is strict below."""
        return self.hit_pct >= LEAST_HIT_PCT


def paper_trace(use: CacheUse, steps: int = PAPER_STEPS) -> TransferTrace:
    """Return the trace of a cache with a fresh activation and gradient and one weight, updated after each step.

    Forward and backward ask once each; a gradient is asked for in backward alone, an activation in forward alone.
    """
    parts = {one.part for one in use.key}
    if parts & {"id(activation)", "id(grad_out)", "id(scale)", "version"}:
        return TransferTrace(steps, steps, 0)
    held: set[tuple[str, int]] = set()
    hits = 0
    for step in range(steps):
        key = ("w", step if "weight version" in parts else 0)
        for _ in ("forward", "backward"):
            hits += key in held
            held.add(key)
    return TransferTrace(steps, 2 * steps, hits)


def verdict_of_run(lookups: Sequence[int], hits: Sequence[int], *, stale: bool) -> str:
    """Return why eight counted steps refuse a cache; empty where they allow it.

    Args:
        lookups: Of each step.
        hits: Of each step.
        stale: Whether a weight that was changed in place was found all the same.
    """
    if stale:
        return "a changed weight is found as it was: the key lacks its _version, or an id was given to another tensor"
    if not sum(lookups):
        return "the steps never ask the cache"
    without = [number + 1 for number, one in enumerate(hits) if not one]
    if without:
        return f"nothing is found in step {', '.join(map(str, without))}: a weight's cache is found once a step"
    found = TransferTrace(len(hits), sum(lookups), sum(hits))
    return "" if found.enough else f"found in {found.hit_pct:.0f} % of lookups, under {LEAST_HIT_PCT:g} %"
