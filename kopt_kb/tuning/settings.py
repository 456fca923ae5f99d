"""How a campaign measures and what it may spend: numbers of this program, not of a policy."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.wire import Wire

__all__ = ["Budget", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings(Wire):
    """Sizes of one campaign.

    Attributes:
        samples: Timed runs of each side, shape and repeat.
        seeds: Fresh inputs a correctness check uses on each shape.
        evaluations: Most configurations a search tries on one shape.
        search_s: Seconds of one search.
        prune_s: Seconds of these that a search may spend on compiling ahead; 0: nothing is pruned.
        run_s: Wall limit of one child, in seconds.
        resident_bytes: Host memory limit of one child; 0: none.
        flush_bytes: Bytes written before each timed run to evict caches; 0: twice the device's own L2.
        seed: Seed of searches.
    """

    samples: int = 100
    seeds: int = 2
    evaluations: int = 48
    search_s: float = 120.0
    prune_s: float = 30.0
    run_s: float = 300.0
    resident_bytes: int = 0
    flush_bytes: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """What one call of `run` may spend: seconds and rounds; None: no limit."""

    seconds_s: float | None = None
    rounds: int | None = None
