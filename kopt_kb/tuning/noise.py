"""The noise floor: what a kernel seems to gain over itself, and what the last printed digit of its times can hide."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from kopt_kb.runners.candidate.answers import Sample
from kopt_kb.workspace.journal.setup_events import NoiseMeasured

__all__ = ["noise_floor_pct", "noise_of"]

_ABOVE_ROUNDING = 1 + 1e-6  # a gain of exactly one step is computed in floats, and may come out just above it


def noise_of(shape: str, samples: Sequence[Sample], run: str) -> NoiseMeasured:
    """Return the noise of repeats of one kernel: the largest deviation of a median from their median.

    Times that a benchmark prints rounded may repeat exactly: the noise is no less than one printed step.
    """
    medians = [one.median_s for one in samples]
    centre = statistics.median(medians)
    deviations = [abs(one - centre) for one in medians]
    floor_pct = max(100 * max(deviations) / centre, _step_pct(one.step_pct for one in samples))
    return NoiseMeasured(shape, len(medians), centre, statistics.median(deviations), floor_pct, run)


def noise_floor_pct(noise: Mapping[str, NoiseMeasured], steps_pct: Iterable[float | None]) -> float:
    """Return the gain in percent that is no gain: the largest noise of any shape, or printed step of the times."""
    return max([*(one.floor_pct for one in noise.values()), _step_pct(steps_pct) * _ABOVE_ROUNDING])


def _step_pct(steps_pct: Iterable[float | None]) -> float:
    return max((one for one in steps_pct if one is not None), default=0.0)
