"""The launcher's gate inside a round: what it is asked, and what the journal keeps of its answer."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun, LauncherWord
from kopt_kb.tuning.jobs import Ran
from kopt_kb.workspace.journal.round_events import LauncherConfirmed
from kopt_kb.workspace.rounds import Round

__all__ = ["launcher_event", "launcher_word", "timed_runs"]


def timed_runs(current: Round) -> dict[str, ExpectedRun]:
    """Return shape → between which seconds the round's records of its candidate lie; the judge adds the rest."""
    found: dict[str, ExpectedRun] = {}
    for record in current.measured.values():
        if record.candidate == current.name:
            low, high = (record.spread.get(name, record.median_s) for name in ("p20_s", "p80_s"))
            known = found.get(record.shape, ExpectedRun({}, least_s=low, most_s=high))
            least, most = min(low, known.least_s or low), max(high, known.most_s or high)
            found[record.shape] = ExpectedRun({}, least_s=least, most_s=most)
    return found


def launcher_event(current: Round, ran: Ran) -> LauncherConfirmed | None:
    """Return what the journal keeps of a launcher that was seen to do what its record does; None of any other."""
    found = ran.result
    if current.launcher is not None or not isinstance(found, LauncherRun):
        return None
    if found.problem or found.outcome == "no":
        return None
    launches: Mapping[str, int] = found.launches
    return LauncherConfirmed(
        current.number, found.outcome, ran.run, found.device, found.contents, launches, found.times
    )


def launcher_word(current: Round) -> LauncherWord:
    """Return what a decision on a round says of its launcher."""
    return current.launcher.outcome if current.launcher is not None else "no"
