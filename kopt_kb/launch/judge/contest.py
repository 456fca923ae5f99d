"""A contest of two sets of launch records: is the candidate faster than the incumbent on this device?

Both live in judge children of their own and take turns in quads; `sequential.py` decides. Every launch gets contents
nobody saw before, and every output is compared, discarded launches included. A side whose result is wrong, whose kernel
faults or hangs, or touches what it may not, ends the contest.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.host_check import HostCheck, host_check
from kopt_kb.launch.judge.judges import FaultError, Judges, fit_for_a_contest
from kopt_kb.launch.judge.pairs import Pair, TimingPlan, WrongError, planned
from kopt_kb.launch.judge.sequential import LOOKS, RatioInterval, SequentialTest, delta_of
from kopt_kb.launch.record.driver import Device
from kopt_kb.launch.record.exchange import Travel

__all__ = ["ClockState", "ContestResult", "ContestTimes", "ContestVerdict", "ShapeTimes", "contest", "held_against"]

ContestVerdict = Literal["accepted", "not_faster", "undecided", "unavailable", "wrong", "fault"]
"""Beside the test's outcomes: the candidate's result is `wrong` or it touched what it may not; its kernel is at `fault`
(it faulted or hung). What goes wrong with the incumbent or with the clock makes a contest `unavailable`."""

ContestTimes = Mapping[str, Mapping[str, Sequence[float]]]
"""Shape → side → seconds of launches."""

_MOST_REFUSED = 32
"""Quads whose events disagree with the host's clock, above which a contest ends."""


@dataclass(frozen=True, slots=True)
class ShapeTimes(Wire):
    """One shape of a contest.

    Attributes:
        shape: Its name.
        incumbent_s: Median time of a launch.
        candidate_s: Likewise.
        log_ratio: Trimmed mean of the quads' values; None with fewer than four.
        quads: Quads that count.
        launches: Timed launches of a letter.
        chain: Launches of a chain, an empty one subtracted; 0: launches were timed one by one.
        empty_s: Time of one empty launch of the chain.
        travel: How contents travelled.
        rel_l2_err: Largest distance of the candidate's results from the reference.
    """

    shape: str
    incumbent_s: float
    candidate_s: float
    log_ratio: float | None
    quads: int
    launches: int
    chain: int
    empty_s: float
    travel: Travel
    rel_l2_err: float | None


@dataclass(frozen=True, slots=True)
class ClockState(Wire):
    """The state of the clock during a contest.

    Attributes:
        device: The device.
        lowest_hz: Lowest clock that a probe counted; 0 without probes.
        highest_hz: Highest.
        settled: Whether both sides alternated until the clock changed by less than a percent.
        throttle: Reasons of the device's management library that were seen.
        locked: Whether clocks were locked; this program never changes a device's settings.
    """

    device: Device
    lowest_hz: float
    highest_hz: float
    settled: bool
    throttle: tuple[str, ...]
    locked: bool = False


@dataclass(frozen=True, slots=True)
class ContestResult(Wire):
    """How a contest ended.

    Attributes:
        verdict: See `ContestVerdict`.
        reason: Why, in words with numbers.
        delta: Log ratio that had to be beaten.
        ratio: Time of the candidate over that of the incumbent, geometric mean over shapes; None without a look.
        looks: Bounds of the log ratio at each look.
        quads: Quads that count, of all shapes.
        dropped: Quads spoiled by the clock.
        refused: Quads whose events disagreed with this program's clock.
        shapes: Each shape.
        host: Confirmation of an accepted ratio by chains timed on the host; empty without one.
        clock: The clock's state; None when no quad was measured.
        seconds: What the contest took.
        trust: Level of such a result.
    """

    verdict: ContestVerdict
    reason: str
    delta: float
    ratio: float | None
    looks: tuple[RatioInterval, ...]
    quads: int
    dropped: int
    refused: int
    shapes: tuple[ShapeTimes, ...]
    host: tuple[HostCheck, ...]
    clock: ClockState | None
    seconds: float
    trust: Literal["replayed"] = "replayed"


def contest(
    judges: Judges,
    incumbent: Mapping[str, Path],
    candidate: Mapping[str, Path],
    *,
    least_gain: float = 0.0,
    floor: float = 0.0,
) -> ContestResult:
    """Decide whether the candidate is faster, over all shapes as one.

    Args:
        judges: Warm children with the reference that judges both.
        incumbent: Shape → folder of its record.
        candidate: Likewise, the same shapes.
        least_gain: Least log ratio that the policy counts as faster, such as 0.01.
        floor: What a kernel gains over itself on this device (`sequential.aa_floor`).

    Raises:
        BadInput: Shapes differ, or a record can't be judged.
        MissingTool: No GPU, or something is not installed.
        FindingError: The reference fails.
    """
    return held_against(judges, incumbent, candidate, least_gain=least_gain, floor=floor)[0]


def held_against(
    judges: Judges, incumbent: Mapping[str, Path], candidate: Mapping[str, Path], *, least_gain: float, floor: float
) -> tuple[ContestResult, ContestTimes]:
    """Return what `contest` does, and the seconds of every launch that counted, by shape and side."""
    _check(incumbent, candidate)
    run = _Contest(judges, incumbent, candidate, delta_of(least_gain, floor))
    return run.result(), run.times


def _check(incumbent: Mapping[str, Path], candidate: Mapping[str, Path]) -> None:
    if not incumbent or set(incumbent) != set(candidate):
        what = f"records of {sorted(incumbent)} and of {sorted(candidate)}"
        raise BadInput(what, where="contest", fix="give the same shapes on both sides", code="KB102")
    for shape in incumbent:
        problems = [
            (record.op, record.shape, record.dtype)
            for record in (fit_for_a_contest(folder[shape]) for folder in (incumbent, candidate))
        ]
        if problems[0] != problems[1]:
            what = f"the records of {shape} are of other problems: {problems[0]} and {problems[1]}"
            raise BadInput(what, where=str(candidate[shape]), fix="record both for one problem", code="KB102")


@dataclass(slots=True)
class _Seen:
    """What a shape's quads showed so far."""

    times: dict[str, list[float]] = field(default_factory=lambda: {"incumbent": [], "candidate": []})
    worst: float | None = None
    plan: TimingPlan | None = None
    travel: Travel = "files"
    empty_s: float = 0.0


class _Contest:
    def __init__(
        self, judges: Judges, incumbent: Mapping[str, Path], candidate: Mapping[str, Path], delta: float
    ) -> None:
        self._judges, self._folders = judges, (incumbent, candidate)
        self._test = SequentialTest(tuple(incumbent), delta)
        self._seen = {shape: _Seen() for shape in incumbent}
        self._clocks: list[float] = []
        self._throttle: dict[str, None] = {}
        self._refused, self._settled = 0, True
        self._checked: dict[str, HostCheck] = {}
        self._device: Device | None = None
        self._began = judges.now_s()

    @property
    def times(self) -> ContestTimes:
        """Shape → side → seconds of every launch that counted."""
        return {shape: seen.times for shape, seen in self._seen.items()}

    def result(self) -> ContestResult:
        """Run until the test has an outcome, something ends the contest, or all quads are measured."""
        verdict, reason, host = self._ended()
        test = self._test
        clock = None
        if self._device is not None:
            lowest, highest = min(self._clocks, default=0.0), max(self._clocks, default=0.0)
            clock = ClockState(self._device, lowest, highest, self._settled, tuple(self._throttle))
        ratio = math.exp(test.looked[-1].mean) if test.looked else None
        return ContestResult(
            verdict, reason, test.delta, ratio, tuple(test.looked), test.quads, test.dropped, self._refused,
            tuple(self._times(shape) for shape in self._seen), host, clock, self._judges.now_s() - self._began,
        )  # fmt: skip

    def _ended(self) -> tuple[ContestVerdict, str, tuple[HostCheck, ...]]:
        try:
            self._measure()
            return self._judged()
        except WrongError as error:
            mine = error.where == "candidate"
            return "wrong" if mine else "unavailable", f"{error.where}: {error.what}", ()
        except FaultError as error:
            return "fault" if error.where == "candidate" else "unavailable", f"{error.where}: {error.what}", ()
        except MissingTool:
            raise
        except FindingError as error:
            if error.error_code == "KB453":  # the reference, which is nobody's side
                raise
            mine = error.where == "candidate"
            return "fault" if mine else "unavailable", f"{error.where}: {error.what}", ()

    def _measure(self) -> None:
        shapes = tuple(self._seen)
        for look in LOOKS:
            for shape in shapes:
                wanted = look - len(self._test.values(shape))
                if wanted > 0 and not self._is_over():
                    with self._pair(shape) as pair:
                        self._block(shape, pair, look)
                        if self._test.outcome == "accepted":  # the clock is settled, and both sides are loaded
                            self._confirm(shape, pair)
            if self._is_over():
                return

    def _is_over(self) -> bool:
        return self._test.outcome is not None or self._refused > _MOST_REFUSED

    @contextmanager
    def _pair(self, shape: str) -> Iterator[Pair]:
        """Load a shape at both sides, planned at its first time and settled each time."""
        seen = self._seen[shape]
        folders = (self._folders[0][shape], self._folders[1][shape])
        made = planned(self._judges, folders) if seen.plan is None else Pair.of(self._judges, folders, seen.plan)
        with made as pair:
            seen.plan = pair.plan
            self._device = self._judges.device("candidate")
            self._settled = pair.settle() and self._settled
            seen.travel = pair.travel
            yield pair

    def _block(self, shape: str, pair: Pair, look: int) -> None:
        """Measure quads of a shape until it has as many as a look needs."""
        seen = self._seen[shape]
        while len(self._test.values(shape)) < look and not self._is_over():
            quad = pair.quad()
            self._clocks += [one for one in quad.clocks_hz if one]
            self._throttle |= dict.fromkeys(quad.throttle)
            seen.empty_s = quad.empty_s or seen.empty_s
            seen.worst = max((one for one in (seen.worst, quad.rel_l2_err) if one is not None), default=None)
            if quad.disagrees:
                self._refused += 1
            elif quad.spoiled:
                self._test.drop()
            else:
                for side, times in quad.times_s.items():
                    seen.times[side] += times
                self._test.add(shape, quad.value)

    def _judged(self) -> tuple[ContestVerdict, str, tuple[HostCheck, ...]]:
        test = self._test
        if self._refused > _MOST_REFUSED:
            return "unavailable", f"events of {self._refused} quads disagree with the host's clock", ()
        outcome = test.outcome or "undecided"
        if outcome == "unavailable":
            return outcome, f"{test.dropped} of {test.dropped + test.quads} quads were spoiled by the clock", ()
        bound = test.looked[-1]
        words = (
            f"{100 * bound.mean:+.3f} % ({100 * bound.low:+.3f} to {100 * bound.high:+.3f}) after {bound.count} quads"
        )
        reason = f"log ratio {words}, δ {100 * test.delta:.3f} %"
        if outcome != "accepted":
            return outcome, reason, ()
        for shape in self._seen:
            if shape not in self._checked:
                with self._pair(shape) as pair:
                    self._confirm(shape, pair)
        checks = tuple(self._checked[shape] for shape in self._seen)
        wrong = [one for one in checks if not one.agrees]
        if wrong:
            off = ", ".join(f"{one.shape}: {100 * one.host:+.2f} % against {100 * one.events:+.2f} %" for one in wrong)
            return "unavailable", f"{reason}; chains timed on the host disagree: {off}", checks
        return outcome, reason, checks

    def _confirm(self, shape: str, pair: Pair) -> None:
        seen = self._seen[shape]
        times = {side: statistics.median(one) + seen.empty_s for side, one in seen.times.items()}
        events = math.log(times["candidate"] / times["incumbent"])
        self._checked[shape] = host_check(self._judges, pair, shape, events)

    def _times(self, shape: str) -> ShapeTimes:
        seen = self._seen[shape]
        medians = [statistics.median(seen.times[side] or [0.0]) for side in ("incumbent", "candidate")]
        plan = seen.plan or TimingPlan(0, 0)
        return ShapeTimes(
            shape, medians[0], medians[1], self._test.shape_means().get(shape), len(self._test.values(shape)),
            plan.launches, plan.chain, seen.empty_s, seen.travel, seen.worst,
        )  # fmt: skip
