"""The table of a suite: a row for each shape of each problem, and what was found of its candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.wire import Wire

__all__ = ["Suite", "SuiteRow", "SuiteVerdict"]

SuiteVerdict = Literal["correct", "wrong", "not judged", "no kernel", "refused"]


@dataclass(frozen=True, slots=True)
class SuiteRow(Wire):
    """One shape of one problem.

    Attributes:
        problem: Name of the problem.
        source: Form of its file.
        file: The file.
        shape: As written; empty where the problem was refused.
        workload: Name that the source has for the shape.
        verdict: What was found of the candidate.
        reason: Why it is not correct; empty where it is.
        median_s: Time of the baseline.
        least_s: Least time under the documented roofs.
        share: Of the roof that binds, documented; None without a measured time.
        roof: Its name.
        work: Whether the work is declared or counted, and its exactness.
        trust: Level of the judge.
        simulated: Whether the time is of a made-up model.
    """

    problem: str
    source: str
    file: str
    verdict: SuiteVerdict
    reason: str = ""
    shape: str = ""
    workload: str = ""
    median_s: float | None = None
    least_s: float | None = None
    share: float | None = None
    roof: str = ""
    work: str = ""
    trust: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Suite(Wire):
    """All rows, and problems that no time was left for."""

    WIRE: ClassVar = ("platform", "problems", "correct", "rows", "left_out")
    platform: str
    rows: tuple[SuiteRow, ...]
    left_out: tuple[str, ...] = ()

    @property
    def problems(self) -> int:
        """How many were tried."""
        return len({(one.file, one.problem) for one in self.rows})

    @property
    def correct(self) -> int:
        """How many have a correct candidate on every shape."""
        wrong = {(one.file, one.problem) for one in self.rows if one.verdict != "correct"}
        return self.problems - len(wrong)
