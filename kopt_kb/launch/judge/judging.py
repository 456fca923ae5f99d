"""What the tuning loop needs of whoever judges stored records; real judges and those of tests stand behind it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.answers import Contest, Sample

__all__ = [
    "Checked", "Contested", "JudgeDevice", "Judging", "Profile", "ReplayTried", "Timed", "sample_of", "samples_of",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class JudgeDevice:
    """The device that judges: its name, identity, the driver's version."""

    name: str
    uuid: str
    driver: str


@dataclass(frozen=True, slots=True)
class ReplayTried(Wire):
    """One replay and what was found of it.

    Attributes:
        inputs: Name of the trial, with `, second run` for the one that follows from the first.
        seed: What the inputs follow from; drawn from the system's entropy for this replay alone.
        passed: Whether the result was right; also where the trial says nothing.
        problem: Why not; empty when it was.
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂; null without a comparable result.
        block_err: The same of the worst part of a row, less what rounding of its terms explains.
        element_err: Largest error of an element as a share of the largest of its row, less likewise.
        relation_err: Distance of a second run from what the first demands of it.
        skipped: Why the trial says nothing about this operation.
    """

    inputs: str
    seed: int
    passed: bool
    problem: str = ""
    rel_l2_err: float | None = None
    block_err: float | None = None
    element_err: float | None = None
    relation_err: float | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A record replayed on fresh inputs: why it is wrong (empty: it is not), its largest error, inputs tried, each."""

    problem: str
    rel_l2_err: float | None
    checks: int
    tried: tuple[ReplayTried, ...] = ()


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of launches whose outputs were right, each on contents of its own; or why there are none."""

    times_s: tuple[float, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Contested:
    """A contest: its verdict, and the seconds of every launch that counted, by shape and side.

    `problem` says which side was wrong or failed while it was timed; there is no verdict then.
    """

    verdict: Contest | None = None
    times_s: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profiler's report of a record as CSV, and the entries of the launches it holds; or why there is none.

    `seconds` says what its steps took.
    """

    csv: str = ""
    kernels: tuple[str, ...] = ()
    problem: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)


class Judging(Protocol):
    """Checks and times stored records on one device; it imports no candidate.

    Where a method is given a moment, in seconds of `time.monotonic`, it ends by then, with a `TimeoutError` when it
    has no answer.
    """

    @property
    def pid(self) -> int:
        """A process of it, for the journal."""

    @property
    def faults(self) -> int:
        """Children of it that ended, hung or faulted so far."""

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        """Return the device.

        Raises:
            MissingTool: No GPU, or no cuda-bindings.
        """

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Replay a record on fresh inputs and compare with the float64 reference."""

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Time records of one shape in turn, so many launches each.

        With `again`, on contents that other records may have seen before: for times that choose and confirm nothing.
        """

    def contest(
        self, sides: Mapping[str, Mapping[str, Path]], reference: Path, threshold: float, ends_at: float
    ) -> Contested:
        """Hold a candidate against an incumbent.

        Args:
            sides: Shape → `incumbent` and `candidate` → record.
            reference: File that makes the inputs and results.
            threshold: Log ratio that has to be beaten.
            ends_at: When it has to be over.
        """

    def profile(self, record: Path, reference: Path, ends_at: float) -> Profile:
        """Replay a record under the profiler of this machine, on fresh inputs, with its output compared."""

    def close(self) -> None:
        """End all of its processes."""


def sample_of(times_s: Sequence[float]) -> Sample:
    """Return times as the loop keeps them."""
    ordered = sorted(times_s)
    median = statistics.median(ordered)
    mad = statistics.median(abs(one - median) for one in ordered)
    last = len(ordered) - 1
    return Sample(len(ordered), median, mad, ordered[round(0.2 * last)], ordered[round(0.8 * last)])


def samples_of(times_s: Sequence[float], repeats: int) -> tuple[Sample, ...]:
    """Return launches in the order they were taken as so many repeats; the i-th of both sides lie side by side."""
    size, more = divmod(len(times_s), repeats)
    ends = [size * number + min(number, more) for number in range(repeats + 1)]
    return tuple(sample_of(times_s[begin:end]) for begin, end in pairwise(ends) if end > begin)
