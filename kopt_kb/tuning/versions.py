"""Accepted versions: the one a round started from, those that hold on all shapes, and one that may be better (R9).

The chain rule: a candidate is accepted for being faster than its incumbent in one run, so by such gains the incumbent
is always the best: a gain that was luck is never seen again. Times of different rounds show it, but clocks drift
between them. So they only raise a suspicion: an earlier version whose recorded times are better than the incumbent's
is timed again as a third side of the same run, in turn with both, and the chain is judged by those times alone. The
suspicion ends once a run after the incumbent's own round has shown that it is at least as fast. Without one nothing
more is timed.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.statistics import geometric_mean
from kopt_kb.tuning.decision import repeat_gains, score_pct
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = [
    "GainInterval",
    "best_rival",
    "confirmed_rounds",
    "gain_interval",
    "gain_pct",
    "incumbent_name",
    "is_confirmed",
    "since_first",
]


@dataclass(frozen=True, slots=True)
class GainInterval:
    """A gain over the incumbent in percent, positive is faster, between the bounds that its measurement leaves."""

    gain_pct: float
    least_pct: float
    most_pct: float


def best_rival(state: WorkspaceState, current: Round) -> Round | None:
    """Return the earlier accepted version that seems best and is to be timed in this round; None: the incumbent is.

    It depends on earlier rounds alone, so that it is the same before and after the round was timed.
    """
    before = [round_ for round_ in state.rounds if round_.number < current.number]
    accepted = [round_ for round_ in before if round_.snapshot is not None and round_.refuted_by is None]
    if len(accepted) < 2:
        return None
    shapes = [format_shape(shape) for shape in state.problem.shapes]
    incumbent = accepted[-1]
    limit = _mean_s(incumbent, incumbent.name, shapes)
    scored = [(_mean_s(round_, round_.name, shapes), round_) for round_ in accepted[:-1]]
    later = [round_ for round_ in before if round_.number > incumbent.number]
    suspects = [
        (score, earlier.number, earlier)
        for score, earlier in scored
        if score is not None and limit is not None and score < limit
        and not _is_cleared(later, incumbent.name, earlier.name, shapes)
    ]  # fmt: skip
    return min(suspects)[2] if suspects else None


def _is_cleared(later: Iterable[Round], incumbent: str, rival: str, shapes: Sequence[str]) -> bool:
    """Return whether the last later run that timed both found the incumbent at least as fast."""
    cleared = False
    for round_ in later:
        own, other = _mean_s(round_, incumbent, shapes), _mean_s(round_, rival, shapes)
        if own is not None and other is not None:
            cleared = own <= other
    return cleared


def _mean_s(round_: Round, name: str, shapes: Sequence[str]) -> float | None:
    """Return the geometric mean of a version's medians of a round, in seconds; None when a shape has no time."""
    times = round_.times(name)
    if any(not times.get(shape) for shape in shapes):
        return None
    return geometric_mean(statistics.median(times[shape]) for shape in shapes)


def confirmed_rounds(rounds: Iterable[Round]) -> dict[str, Round]:
    """Return blob → round of the versions that hold on all shapes, in order; the baseline does.

    A version that was timed on all shapes against one that was not proves only the difference between the two.
    """
    confirmed: dict[str, Round] = {}
    for round_ in rounds:
        if round_.snapshot is None or round_.refuted_by is not None:
            continue
        if not round_.number or (round_.level != "quick" and round_.incumbent in confirmed):
            confirmed.pop(round_.snapshot.blob, None)  # the same files again: the later version is the one to name
            confirmed[round_.snapshot.blob] = round_
    return confirmed


def is_confirmed(rounds: Iterable[Round], best: Round) -> bool:
    """Return whether a version holds on all shapes."""
    return any(round_.number == best.number for round_ in confirmed_rounds(rounds).values())


def incumbent_name(state: WorkspaceState, current: Round) -> str:
    """Return the name of the version a round started from."""
    accepted = [round_ for round_ in state.rounds if round_.number < current.number and round_.snapshot is not None]
    for round_ in reversed(accepted):
        if round_.snapshot is not None and round_.snapshot.blob == current.incumbent:
            return round_.name
    return accepted[-1].name if accepted else current.name


def since_first(state: WorkspaceState, current: Round) -> dict[str, float]:
    """Return shape → time of the baseline over that of a round's incumbent; the baseline itself has no shape.

    It is the product of what accepted rounds won or lost, each timed in turn with its own incumbent: clocks that drift
    between rounds do not enter.
    """
    found: dict[str, float] = {}
    for round_ in state.rounds:
        if round_.number >= current.number or round_.is_baseline or round_.snapshot is None or not round_.accepted:
            continue
        old, new = round_.times(incumbent_name(state, round_)), round_.times(round_.name)
        for shape in new.keys() & old.keys():
            found[shape] = found.get(shape, 1.0) * statistics.median(old[shape]) / statistics.median(new[shape])
    return found


def gain_pct(round_: Round) -> float | None:
    """Return what a round's candidate gained against its incumbent, timed in the same run; None without both times."""
    old, new = _both(round_)
    return score_pct(*_medians(old, new)) if new else None


def gain_interval(round_: Round, noise_pct: float) -> GainInterval | None:
    """Return the gain with the range of its repeats, widened by the noise floor; None without both times."""
    old, new = _both(round_)
    if not new or len({len(times) for shape in new for times in (old[shape], new[shape])}) != 1:
        return None
    gains = repeat_gains({shape: old[shape] for shape in new}, new)
    return GainInterval(score_pct(*_medians(old, new)), min(gains) - noise_pct, max(gains) + noise_pct)


def _both(round_: Round) -> tuple[Mapping[str, Sequence[float]], Mapping[str, Sequence[float]]]:
    """Return shape → times of the incumbent and of the candidate in the round's run; nothing unless both are whole."""
    new = round_.times(round_.name)
    others = dict.fromkeys(record.candidate for record in round_.measured.values() if record.candidate != round_.name)
    incumbent = round_.times(next(iter(others))) if others else {}
    return (incumbent, new) if new and incumbent.keys() >= new.keys() else ({}, {})


def _medians(old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]) -> tuple[list[float], list[float]]:
    return [statistics.median(old[shape]) for shape in new], [statistics.median(new[shape]) for shape in new]
