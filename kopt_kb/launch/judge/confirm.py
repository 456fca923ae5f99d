"""Contests of contests: a final version against its baseline in fresh processes; what a kernel gains over itself."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import FindingError
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.contest import ContestResult, contest
from kopt_kb.launch.judge.judges import Judges
from kopt_kb.launch.judge.sequential import aa_floor

__all__ = ["Confirmation", "confirm", "measure_floor"]


@dataclass(frozen=True, slots=True)
class Confirmation(Wire):
    """A final version against the baseline, in fresh processes each time.

    Attributes:
        confirmed: Whether every contest accepted it.
        ratio: Geometric mean of the contests' ratios; None when one had none.
        contests: How each ended.
    """

    confirmed: bool
    ratio: float | None
    contests: tuple[ContestResult, ...]


def confirm(
    judges: Judges,
    baseline: Mapping[str, Path],
    final: Mapping[str, Path],
    *,
    least_gain: float = 0.0,
    floor: float = 0.0,
    times: int = 3,
) -> Confirmation:
    """Hold a final version against the baseline in contests of fresh processes; arguments as for `contest`."""
    results = []
    for _ in range(times):
        judges.refresh()
        results.append(contest(judges, baseline, final, least_gain=least_gain, floor=floor))
    ratios = [one.ratio for one in results if one.ratio is not None]
    whole = len(ratios) == len(results) and bool(ratios)
    ratio = math.exp(statistics.fmean(map(math.log, ratios))) if whole else None
    return Confirmation(all(one.verdict == "accepted" for one in results), ratio, tuple(results))


def measure_floor(judges: Judges, records: Mapping[str, Path], *, contests: int = 3) -> float:
    """Return what records seem to gain over themselves on this device, from contests in fresh processes.

    Raises:
        FindingError: A contest came to no look.
    """
    means = []
    for _ in range(contests):
        judges.refresh()
        result = contest(judges, records, records)
        if not result.looks:
            raise FindingError(f"no floor: {result.reason}", where="clock", fix="let the device be alone", code="KB460")
        means.append(result.looks[-1].mean)
    return aa_floor(means)
