"""The records of a bench: made from what its timing run answered, at once or after the bench was cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kopt_kb.launch.candidate.answers import Timing, Trust
from kopt_kb.launch.record.source import NOT_REPLAYED
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.session import Session
from kopt_kb.workspace.journal.round_events import Measured

__all__ = ["finish_benches", "made_records", "timing_run"]


def timing_run(bench: str) -> str:
    """Return the id of the run that times a bench."""
    return f"{bench}.timing.1"


def made_records(bench: str, run: str, environment: int, answer: Timing, trust: Trust) -> Iterator[Measured]:
    """Return the records of a bench in the order in which they are kept: shape by shape, repeat by repeat.

    Args:
        bench: Name of the bench.
        run: Id of its timing run; empty when nothing is kept: then records have no id.
        environment: Event of the bench.
        answer: What the timing run answered.
        trust: How far its times can be trusted where it does not say itself.
    """
    level = answer.basis.trust if answer.basis is not None else trust
    source = answer.basis.source_of("candidate") if answer.basis is not None else NOT_REPLAYED
    for shape, sides in answer.shapes.items():
        for at, sample in enumerate(sides["candidate"], start=1):
            name = f"{run}:{shape}:{at}" if run else ""
            yield Measured(
                name, bench, shape, sample.n, sample.median_s, sample.spread, run, environment, level, source
            )


def finish_benches(session: Session) -> tuple[str, ...]:
    """Append the records that benches lack although their timing run finished; returns the names of those benches.

    A bench that was killed between two of its records has all of them in the blob of what its run answered.
    """
    state = session.state()
    if not state.benches:
        return ()
    order = [format_shape(shape) for shape in state.problem.shapes]
    finished = []
    for name, bench in state.benches.items():
        run = timing_run(name)
        begun, kept = state.runs.get(run), {record.id for record in bench.records}
        ended = begun.finished if begun is not None else None
        if ended is None or ended.outcome != "ok" or ended.output is None:
            continue
        answer = session.recall(begun).result if begun is not None else None
        if not isinstance(answer, Timing):
            continue
        # The blob's keys are sorted; records keep the problem's order, by which a cut bench is told from a whole one.
        answer = replace(answer, shapes={shape: answer.shapes[shape] for shape in order if shape in answer.shapes})
        lacking = [
            record
            for record in made_records(name, run, bench.seq, answer, session.executor.trust)
            if record.id not in kept
        ]
        for record in lacking:
            session.append(record)
        finished += [name] if lacking else []
    return tuple(finished)
