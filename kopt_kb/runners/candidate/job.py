"""What a child process is asked to do with a candidate, and how that ended: plain data for any executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kopt_kb.process import Started

__all__ = ["STEP", "Ending", "Executor", "Job", "JobKind", "Outcome", "RunLimits", "Started"]

JobKind = Literal["environment", "check", "timing", "search", "limits", "evidence"]
STEP = "step_pct"
"""Member of a timing: what one step of the last printed digit is, in percent of the time."""

Ending = Literal["ok", "crash", "hang", "oom", "limit", "lost"]


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one child: wall time in seconds, resident host memory in bytes (0: none)."""

    wall_s: float = 300.0
    resident_bytes: int = 0

    def to_json(self) -> dict[str, float]:
        """Return the limits with the unit in each name."""
        return {"wall_s": self.wall_s, "resident_bytes": float(self.resident_bytes)}


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work on a candidate.

    Attributes:
        kind: What to do.
        candidate: Source of the candidate; empty for `environment`.
        incumbent: Source it is compared with; empty when there is none.
        body: Shapes, dtype, tolerance, seeds, repeats and such, as JSON data.
        limits: Limits of the child.
        reference: File whose `make_inputs` and `reference` judge; empty: the candidate's own, which proves less.
        best: Source that is timed as a third side, in turn with both; empty when there is none.
    """

    kind: JobKind
    candidate: bytes = b""
    incumbent: bytes = b""
    body: Mapping[str, Any] = field(default_factory=dict)
    limits: RunLimits = RunLimits()
    reference: bytes = b""
    best: bytes = b""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended.

    Attributes:
        outcome: The journal's word; only `ok` carries a whole result.
        exit: Exit status, None after a signal.
        signal: Signal that ended it.
        wall_s: Seconds it took.
        printed: What it printed to stdout and stderr, its end if it was long.
        result: What it answered through its own channel; of a check that ended in its test, what was known by then.
    """

    outcome: Ending
    exit: int | None
    signal: int | None
    wall_s: float
    printed: str = ""
    result: Mapping[str, Any] | None = None


class Executor(Protocol):
    """Runs jobs somewhere."""

    @property
    def name(self) -> str:
        """How records name it."""

    @property
    def simulated(self) -> bool:
        """Whether its times are computed and not measured."""

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended, after `started` was called once."""
