"""Noise measured anew when a campaign goes on on another machine: the best version timed against itself."""

from __future__ import annotations

from collections.abc import Callable

from kopt_kb.errors import BadInput
from kopt_kb.runners.candidate.answers import Timing
from kopt_kb.runners.candidate.job import Job
from kopt_kb.tuning.desk import Desk
from kopt_kb.tuning.environment import NO_GPU_FIX, refuse_missing
from kopt_kb.tuning.gates import Ran
from kopt_kb.tuning.noise import noise_of
from kopt_kb.workspace.journal.campaign_events import Blocked
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["measure_noise"]


def measure_noise(desk: Desk, state: WorkspaceState, job: Callable[[bytes], Job]) -> None:
    """Time the best version against itself and append the noise of each shape.

    Args:
        desk: Where events are appended.
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
    attempt = 1 + sum(len(one.attempts(name, "timing")) for one in state.rounds)
    run = f"{name}.timing.{attempt}"
    outcome = desk.execute(run, name, attempt, job(desk.store.get(best.snapshot.blob)))
    found = outcome.result
    refuse_missing(found, NO_GPU_FIX)
    if not isinstance(found, Timing) or found.problem:
        ran = Ran(outcome.outcome, found, run, outcome.printed)
        reason = ran.failure() or ran.unable or (found.problem if isinstance(found, Timing) else "no times")
        wrong = f"{best.name} can't be timed on this machine: {reason}"
        desk.append(Blocked((wrong,)))
        raise BadInput(wrong, where=run, fix="go on where it was accepted, or make another workspace", code="KB424")
    for shape, sides in found.shapes.items():
        desk.append(noise_of(shape, [*sides["incumbent"], *sides["candidate"]], run))
