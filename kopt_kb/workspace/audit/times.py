"""Times of a journal held against each other: samples, contests, clocks of runs, stamps of events, and profiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from statistics import median

from kopt_kb.base.wire import JsonMap
from kopt_kb.launch.candidate.answers import Contest, Sample, Timing
from kopt_kb.quantity.readable import duration
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.audit.timings import timings_of
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import Measured, RunFinished, RunStarted
from kopt_kb.workspace.rounds import SIMULATOR
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["time_findings"]

_JOURNAL = "journal.jsonl"
_FIX = "time the candidate again; these times do not fit each other"

_CLOCKS_S, _CLOCKS_SHARE = 1.0, 0.02
"""What two clocks of one host may disagree by in a run: seconds, and a share of it."""

_CONTEST_LOG = 0.1
"""What the gain of a contest and that of the medians beside it may differ by, as logarithms, besides its interval."""

_PROFILED = 3.0
"""Times longer that a kernel may take under a profiler, which holds clocks at their base and flushes caches."""


def time_findings(events: tuple[Event, ...], state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each time that another one of the same journal excludes; a simulator's are computed."""
    timed = timings_of(events, store)
    measured = {one.data.run for one in events if isinstance(one.data, Measured) and _is_simulated(state, one.data)}
    started: dict[str, Event] = {}
    for event in events:
        data = event.data
        wrong: Iterator[str] = iter(())
        if isinstance(data, RunStarted):
            started.setdefault(data.run, event)
        elif isinstance(data, Measured) and data.run in timed:
            wrong = _of_record(data, timed[data.run])
        elif isinstance(data, RunFinished) and not state.simulated and data.run not in measured:
            told = None if state.task.project is not None else timed.get(data.run)  # a project may print any time
            wrong = _of_run(event, data, started.get(data.run), told)
        for one in wrong:
            yield AuditFinding("times", _JOURNAL, event.seq, one, _FIX)
    if state.task.project is None:  # a project's own profile is of more than its kernel
        yield from _profiles(state)


def _is_simulated(state: WorkspaceState, record: Measured) -> bool:
    machine = state.environments.get(record.environment)
    return machine is not None and machine.device == SIMULATOR


def _of_record(record: Measured, timing: Timing) -> Iterator[str]:
    """Yield what a record says otherwise than the sample of its run with the same median."""
    sides = timing.shapes.get(record.shape, {})
    same = [one for samples in sides.values() for one in samples if one.median_s == record.median_s]
    if same and all((one.n, one.spread) != (record.n, dict(record.spread)) for one in same):
        yield f"record {record.id} says {record.n} samples and a spread that its run {record.run} did not have"


def _of_run(event: Event, run: RunFinished, started: Event | None, timing: Timing | None) -> Iterator[str]:
    slack = _CLOCKS_S + _CLOCKS_SHARE * run.wall_s
    if started is not None and (event.time - started.time).total_seconds() < run.wall_s - slack:
        between = duration(max((event.time - started.time).total_seconds(), 0.0))
        yield f"run {run.run} says it took {duration(run.wall_s)}, its two events are {between} apart"
    if timing is None or timing.problem:
        return
    samples = [one for sides in timing.shapes.values() for side in sides.values() for one in side]
    if any(not _is_ordered(one) for one in samples):
        yield f"run {run.run} has a sample whose median lies outside of its own spread, or is no time"
        return
    inside = sum(one.n * one.median_s for one in samples)
    parts = timing.basis.seconds if timing.basis is not None else {}
    if max(inside, *parts.values(), 0.0) > run.wall_s + slack:
        longest = duration(max(inside, *parts.values(), 0.0))
        yield f"run {run.run} took {duration(run.wall_s)}, and what it did in it {longest}"
    if timing.contest is not None:
        yield from _contest(run.run, timing.contest, timing)


def _is_ordered(one: Sample) -> bool:
    least = one.p20_s if one.p20_s is not None else one.median_s
    most = one.p80_s if one.p80_s is not None else one.median_s
    return math.isfinite(one.median_s) and 0 < least <= one.median_s <= most and one.n > 0


def _contest(run: str, contest: Contest, timing: Timing) -> Iterator[str]:
    """Yield what of a contest's numbers does not follow from the others, or from the medians of the same launches."""
    gain, least, most = contest.gain_pct, contest.least_pct, contest.most_pct
    if contest.verdict == "faster" and (least is None or least < contest.threshold_pct):
        yield f"the contest of run {run} says faster, and its interval does not clear {contest.threshold_pct} %"
    if gain is None or least is None or most is None:
        return
    if not -100 < least <= gain <= most:
        yield f"the contest of run {run} gives {gain} % outside of its own interval, {least} to {most} %"
        return
    ratio = _log_ratio(timing)
    width = math.log1p(most / 100) - math.log1p(least / 100)
    if ratio is not None and abs(ratio - math.log1p(gain / 100)) > _CONTEST_LOG + 2 * width:
        shown = 100 * math.expm1(ratio)
        yield f"the contest of run {run} gives a gain of {gain:.2f} %, the medians of its samples {shown:.2f} %"


def _log_ratio(timing: Timing) -> float | None:
    """Return the logarithm of incumbent over candidate, the mean of all shapes; None where a shape lacks a side."""
    ratios = []
    for sides in timing.shapes.values():
        old, new = sides.get("incumbent", ()), sides.get("candidate", ())
        if not old or not new:
            return None
        ratios.append(math.log(median(one.median_s for one in old) / median(one.median_s for one in new)))
    return sum(ratios) / len(ratios) if ratios else None


def _profiles(state: WorkspaceState) -> Iterator[AuditFinding]:
    """Yield a finding for each profile of a version under which it took many times as long as its records say."""
    for attempt in state.attempts.values():
        times = {shape: min(all_of) for shape, all_of in attempt.times(attempt.name).items() if all_of}
        for seq, profile in state.profiles_of(attempt).items():
            for shape, seconds in _profiled(profile.evidence).items():
                if shape in times and seconds > _PROFILED * times[shape]:
                    text = (
                        f"{attempt.name} took {duration(seconds)} on {shape} under the profiler, its records say "
                        f"{duration(times[shape])}"
                    )
                    yield AuditFinding("times", _JOURNAL, seq, text, _FIX)


def _profiled(evidence: tuple[JsonMap, ...]) -> Mapping[str, float]:
    """Return shape → seconds of one launch of the longest kernel of a profile."""
    found: dict[str, float] = {}
    for one in evidence:
        shape, metrics = one.get("shape"), one.get("metrics")
        seconds = metrics.get("duration_s") if isinstance(metrics, Mapping) else None
        if isinstance(shape, str) and isinstance(seconds, int | float):
            found[shape] = max(found.get(shape, 0.0), float(seconds))
    return found
