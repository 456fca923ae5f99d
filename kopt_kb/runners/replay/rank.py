"""Contests around contests: ranking many candidates, confirming the last one, and what a kernel gains over itself.

The best of many samples looks better than it is: a search's samples only choose whom to time again, the finalists are
timed interleaved, and the winner's time is that of samples that chose nothing. None of them confirms; a contest does.
"""

from __future__ import annotations

import math
import secrets
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.errors import FindingError
from kopt_kb.runners.replay.contest import ContestResult, contest
from kopt_kb.runners.replay.judges import Judges
from kopt_kb.runners.replay.sequential import aa_floor
from kopt_kb.wire import Wire

__all__ = ["FINALISTS", "Confirmation", "Ranked", "confirm", "measure_floor", "rank"]

FINALISTS = 8
"""How many of the best are timed again."""

_SIDE = "candidate"


@dataclass(frozen=True, slots=True)
class Ranked(Wire):
    """One candidate of a search.

    Attributes:
        number: Its place in what was given.
        time_s: Geometric mean over shapes of its median times; None when it can't be launched, or is wrong.
        stage: Which samples the time is of: `search`, `final` (interleaved), `winner` (fresh).
        problem: Why there is no time.
    """

    number: int
    time_s: float | None
    stage: str
    problem: str


def rank(
    judges: Judges, candidates: Sequence[Mapping[str, Path]], *, samples: int = 4, rounds: int = 3
) -> tuple[Ranked, ...]:
    """Return candidates from the fastest to the slowest; those without a time come last.

    Args:
        judges: Warm children; one judge does it all.
        candidates: Shape → folder of its record, each with the same shapes.
        samples: Timed launches of each shape and turn.
        rounds: How often the finalists take turns.

    Raises:
        MissingTool: No GPU, or something is not installed.
        FindingError: The reference fails.
    """
    found = {number: _timed(judges, number, one, samples, "search") for number, one in enumerate(candidates)}
    best = [one.number for one in _sorted(found.values()) if one.time_s is not None][:FINALISTS]
    again: dict[int, list[float]] = {number: [] for number in best}
    for _ in range(rounds if len(best) > 1 else 0):
        secrets.SystemRandom().shuffle(best)
        for number in best:
            one = _timed(judges, number, candidates[number], samples, "final")
            if one.time_s is None:
                found[number] = one
            again[number].append(one.time_s or math.inf)
    for number, times in again.items():
        if times and found[number].time_s is not None:
            found[number] = Ranked(number, statistics.median(times), "final", "")
    finals = [found[number] for number in best]
    rest = [one for number, one in found.items() if number not in again]
    ordered = [*_sorted(finals), *_sorted(rest)]
    if ordered and ordered[0].time_s is not None:
        ordered[0] = _timed(judges, ordered[0].number, candidates[ordered[0].number], samples, "winner")
    return tuple(one for has in (True, False) for one in ordered if (one.time_s is not None) == has)


def _sorted(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda one: math.inf if one.time_s is None else one.time_s)


def _timed(judges: Judges, number: int, shapes: Mapping[str, Path], samples: int, stage: str) -> Ranked:
    """Check and time one candidate on all its shapes."""
    logs = []
    for folder in shapes.values():
        try:
            time_s, problem = _sampled(judges, folder, samples)
        except FindingError as error:
            if error.error_code == "KB453":  # the reference
                raise
            time_s, problem = 0.0, error.what
        if problem:
            return Ranked(number, None, stage, problem)
        logs.append(math.log(time_s))
    return Ranked(number, math.exp(statistics.fmean(logs)), stage, "")


def _sampled(judges: Judges, folder: Path, samples: int) -> tuple[float, str]:
    contents = tuple(range(1 + samples))
    made = judges.load(_SIDE, folder, len(contents))
    try:
        judges.fill(made, contents)
        turn, _ = judges.take(made, contents)
        problems = [*turn.touched, *(one.problem for one in judges.compare(made, contents) if one.problem)]
        median = statistics.median(turn.times_s[1:])
        return median, "; ".join(dict.fromkeys(problems))[:500] or ("" if median > 0 else "no time passed")
    finally:
        judges.unload(made)


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
