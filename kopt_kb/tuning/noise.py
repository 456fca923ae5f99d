"""The noise floor: what a kernel seems to gain over itself, and what the last printed digit of its times can hide."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import Sample, Timing
from kopt_kb.launch.candidate.job import Job
from kopt_kb.tuning.jobs import NO_GPU_FIX, Ran, refuse_missing
from kopt_kb.tuning.session import Session
from kopt_kb.workspace.journal.campaign_events import Blocked
from kopt_kb.workspace.journal.setup_events import NoiseMeasured
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["measure_noise", "noise_floor_pct", "noise_of"]

_ABOVE_ROUNDING = 1 + 1e-6  # a gain of exactly one step is computed in floats, and may come out just above it


def noise_of(shape: str, samples: Sequence[Sample], run: str) -> NoiseMeasured:
    """Return the noise of repeats of one kernel: the largest deviation of a median from their median.

    Times that a benchmark prints rounded may repeat exactly: the noise is no less than one printed step.
    """
    medians = [sample.median_s for sample in samples]
    centre = statistics.median(medians)
    deviations = [abs(median - centre) for median in medians]
    floor_pct = max(100 * max(deviations) / centre, _step_pct(sample.step_pct for sample in samples))
    return NoiseMeasured(shape, len(medians), centre, statistics.median(deviations), floor_pct, run)


def noise_floor_pct(noise: Mapping[str, NoiseMeasured], steps_pct: Iterable[float | None]) -> float:
    """Return the gain in percent that is no gain: the largest noise of any shape, or printed step of the times."""
    return max([*(measured.floor_pct for measured in noise.values()), _step_pct(steps_pct) * _ABOVE_ROUNDING])


def _step_pct(steps_pct: Iterable[float | None]) -> float:
    return max((step for step in steps_pct if step is not None), default=0.0)


def measure_noise(session: Session, state: WorkspaceState, job: Callable[[bytes], Job]) -> None:
    """Time the best version against itself and append the noise of each shape.

    Args:
        session: Where events are appended.
        state: Has a best version.
        job: Makes the timing of a source against itself.

    Raises:
        MissingTool: No GPU where the executor runs.
        BadInput: The version that was accepted can't be timed on this machine.
    """
    best = state.best
    if best is None or best.snapshot is None:
        return
    name = f"noise-{state.environment_seq}"
    attempt = 1 + sum(len(round_.attempts(name, "timing")) for round_ in state.rounds)
    run = f"{name}.timing.{attempt}"
    outcome = session.execute(run, name, attempt, job(session.store.get(best.snapshot.blob)))
    answer = outcome.result
    refuse_missing(answer, NO_GPU_FIX)
    if not isinstance(answer, Timing) or answer.problem:
        ran = Ran(outcome.outcome, answer, run, outcome.printed)
        reason = ran.failure() or ran.unable or (answer.problem if isinstance(answer, Timing) else "no times")
        wrong = f"{best.name} can't be timed on this machine: {reason}"
        session.append(Blocked((wrong,)))
        raise BadInput(wrong, where=run, fix="go on where it was accepted, or make another workspace", code="KB424")
    for shape, sides in answer.shapes.items():
        session.append(noise_of(shape, [*sides["incumbent"], *sides["candidate"]], run))
