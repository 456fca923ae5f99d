"""What a campaign has besides its policy: sizes of measurements, a budget, and tools that not every machine has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.job import PruningRules
from kopt_kb.tuning.decision import GateResult
from kopt_kb.workspace.journal.campaign_events import Invocation, PlanMade

if TYPE_CHECKING:
    from kopt_kb.analysis.roofline.executed import ExecutedFloor
    from kopt_kb.problem.work import Work
    from kopt_kb.tuning.environment import ProductOf
    from kopt_kb.tuning.evidence import IsaEvidence
    from kopt_kb.tuning.project import ProjectAdapter
    from kopt_kb.wiki.registry import Platform

__all__ = ["FLAGS", "Budget", "BudgetSpentError", "CampaignOptions", "Settings", "SourceGate"]


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


FLAGS = {
    "samples": "samples", "evaluations": "evaluations", "search_s": "search_s", "prune_s": "prune_s", "run_s": "run_s",
    "memory_bytes": "resident_bytes", "flush_bytes": "flush_bytes", "seed": "seed",
}  # fmt: skip
"""Argument of a command that starts a campaign → field of the settings."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one call of `run` may spend: seconds and rounds; None: no limit."""

    seconds_s: float | None = None
    rounds: int | None = None


class BudgetSpentError(Exception):
    """The seconds of this call are over in the middle of something, which the next call begins again."""


SourceGate = Callable[[bytes, float], GateResult]
"""Judges a source by a moment of `time.monotonic`; raises `TimeoutError` where it can't."""


def _silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """What a campaign may have besides an executor.

    Attributes:
        resources: Judges a source against sourced limits without a GPU.
        instructions: Scans the code that a source compiles to, against the ISA targets.
        executed: Returns shape → what the machine code of a source allows its work, of shapes whose code is read.
        pruning: Target and sourced limits by which searches prune; None: they measure whatever they ask for.
        platform: The product, against whose roofs profiles are judged.
        product_of: Finds the product of a device's name; without it nobody looks whether the device is the right one.
        tips: File of earlier experience; read once, guidance and no evidence.
        say: Called with a line of progress.
        project: The project that candidates are files of; None: a candidate is one kernel file.
        plan: What a pack has it follow: file of the analysis and the order of steps; recorded as the campaign begins.
        launch: What a later start needs to ask and run the same again; kept with the campaign, read by nobody here.
    """

    resources: SourceGate | None = None
    instructions: Callable[[bytes, float], IsaEvidence | None] | None = None
    executed: Callable[[bytes, Mapping[str, Work]], Mapping[str, ExecutedFloor]] | None = None
    pruning: PruningRules | None = None
    platform: Platform | None = None
    product_of: ProductOf | None = None
    tips: Path | None = None
    say: Callable[[str], None] = _silent
    project: ProjectAdapter | None = None
    launch: Invocation | None = None
    plan: PlanMade | None = None
