"""Two loaded records that take turns: how many launches a letter has, settling, and one quad."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import FindingError
from kopt_kb.launch.judge.judges import Judges, Loading
from kopt_kb.launch.judge.sequential import quad_value, secret_order
from kopt_kb.launch.record.clock import Turn
from kopt_kb.launch.record.exchange import Travel
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.nvml import SPOILS
from kopt_kb.launch.record.turns import MAX_SLOTS

__all__ = ["Pair", "Quad", "TimingPlan", "WrongError", "planned"]

SIDES = ("incumbent", "candidate")

_MOST_LAUNCHES, _QUAD_S = 4, 0.075
"""Most timed launches of a letter; seconds that a quad of more than one a letter may take: a contest has 12 or more."""

_SHORT_S, _CHAIN_S = 10e-6, 50e-6
"""Below the first a kernel is timed as a chain, which takes at least the second."""

_MOST_CHAINED = MAX_SLOTS // 2 - 1
_MOST_CONTENTS_BYTES = 8 << 30
"""Most memory that the contents of one record's slots may take."""

_CLOCK_TOLERANCE = 0.02
"""Difference of the two sides' mean clocks in a quad, as a log, above which the quad has to show far more than that."""

_OUTWEIGHS = 4
"""By what a quad's value has to exceed such a difference to count all the same, less that difference."""

_SETTLED, _MOST_SETTLING = 0.01, 5
"""Change of the clock from quad to quad, as a log, below which it has settled; quads that are spent on that."""

_EVENT_SLACK, _HOST_SLACK_S = 0.02, 10e-3
"""How far events and the host's clock may be apart: a share, and what the calls of a launch may take."""


class WrongError(FindingError):
    """A side's result is wrong, or it touched what it may not; `where` is the side."""

    code = "KB459"


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """How a shape is timed: launches of a letter, launches of a chain (0: no chain)."""

    launches: int
    chain: int

    @property
    def half(self) -> int:
        """Contents that a letter needs, that of the discarded launch included."""
        return 1 + (self.chain or self.launches)


@dataclass(frozen=True, slots=True)
class Quad:
    """One quad.

    Attributes:
        value: Mean log time of the candidate minus that of the incumbent, nearer to zero by what their clocks differ
            where that is much.
        times_s: Side → times of its launches.
        clocks_hz: Clocks that the probes before timed launches counted; zeros without probes.
        throttle: Reasons that were seen.
        spoiled: Whether clock or throttling make it worthless.
        disagrees: Whether events and the host's clock disagree.
        empty_s: Time of an empty launch of a chain.
        rel_l2_err: Largest distance of the candidate's results from the reference.
    """

    value: float
    times_s: dict[str, list[float]]
    clocks_hz: tuple[float, ...]
    throttle: tuple[str, ...]
    spoiled: bool
    disagrees: bool
    empty_s: float
    rel_l2_err: float | None


class Pair:
    """Incumbent and candidate of one shape, loaded at their judges."""

    def __init__(self, judges: Judges, sides: tuple[Loading, Loading], plan: TimingPlan) -> None:
        self._judges, self.sides, self.plan = judges, sides, plan
        self._clock = 0.0

    @classmethod
    @contextmanager
    def of(cls, judges: Judges, folders: tuple[Path, Path], plan: TimingPlan) -> Iterator[Pair]:
        """Load both, and give them back afterwards."""
        with ExitStack() as stack:
            loaded = []
            for side, folder in zip(SIDES, folders, strict=True):
                loaded.append(judges.load(side, folder, 2 * plan.half, plan.chain))
                stack.callback(judges.unload, loaded[-1])
            yield cls(judges, (loaded[0], loaded[1]), plan)

    @property
    def travel(self) -> Travel:
        """How contents travel: by file when they do so to one side."""
        return "files" if "files" in {one.travel for one in self.sides} else "ipc"

    def settle(self) -> bool:
        """Measure quads for nobody until the clock stays; return whether it did."""
        for _ in range(_MOST_SETTLING):
            before = self._clock
            self._noted(self.quad())
            if not self._clock or abs(self._clock - before) < _SETTLED:
                return True
        return False

    def _noted(self, quad: Quad) -> None:
        """Keep the mean log of a quad's clocks; zero without probes."""
        self._clock = statistics.fmean([math.log(one) for one in quad.clocks_hz if one] or [0.0])

    def quad(self, launches: int = 0) -> Quad:
        """Measure one quad in secret order; each letter has contents of its own, the same on both sides.

        Args:
            launches: Timed launches of a letter; 0: as planned.

        Raises:
            WrongError: A result is wrong, or something was touched.
            FaultError: A kernel faulted or hung.
        """
        half = 1 + launches if launches else self.plan.half
        contents = tuple(range(2 * half))
        incumbent, candidate = self.sides
        self._judges.fill(incumbent, contents)
        self._judges.fill(candidate, contents, like=incumbent)
        order = secret_order()
        letters: list[tuple[Loading, Turn, float]] = []
        worst: float | None = None
        for letter in order:
            side = incumbent if letter == "A" else candidate
            first = not any(one is side for one, _, _ in letters)
            slots = contents[:half] if first else contents[half:]
            turn, stamp_s = self._judges.take(side, slots)
            letters.append((side, turn, stamp_s))
            found = self._hold_against_reference(side, turn, slots)
            worst = _larger(worst, found) if side is candidate else worst
        times = [turn.times_s[1:] for _, turn, _ in letters]
        clocks = [turn.clocks_hz[1:] for _, turn, _ in letters]
        throttle = tuple(dict.fromkeys(one for _, turn, _ in letters for one in turn.throttle))
        usable = all(one > 0 for each in times for one in each)
        value, is_apart = _at_one_clock(quad_value(order, times) if usable else 0.0, _clock_gap(order, clocks))
        return Quad(
            value,
            {name: [one for (side, *_), each in zip(letters, times, strict=True) if side.side == name for one in each]
             for name in SIDES},
            tuple(one for each in clocks for one in each), throttle,
            bool(SPOILS & set(throttle)) or is_apart or not usable,
            any(_disagree(turn, stamp_s, self.plan.chain) for _, turn, stamp_s in letters),
            max(turn.empty_s for _, turn, _ in letters), worst,
        )  # fmt: skip

    def _hold_against_reference(self, side: Loading, turn: Turn, slots: Sequence[int]) -> float | None:
        """Compare all outputs of a turn, and return the largest distance.

        Before the side launches again: a later launch, whose time may not count, could write what this one left out.
        """
        results = self._judges.compare(side, slots)
        problems = [*turn.touched, *(one.problem for one in results if one.problem)]
        if problems:
            raise WrongError("; ".join(dict.fromkeys(problems))[:500], where=side.side, fix="verify the record")
        return max((one.rel_l2_err for one in results if one.rel_l2_err is not None), default=None)


def _larger(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _clock_gap(order: str, clocks: Sequence[Sequence[float]]) -> float:
    """Return the log of B's mean clock over A's; 0 where a probe is missing."""
    if not all(one > 0 for each in clocks for one in each):
        return 0.0
    return quad_value("ABBA" if order == "ABBA" else "BAAB", clocks)


def _at_one_clock(value: float, gap: float) -> tuple[float, bool]:
    """Return a quad's value as sides at one clock would show it at least, and whether their clocks spoil it.

    A kernel that keeps every unit busy draws more power than a slow one, and its clock falls: such a pair never meets
    at one clock. What a clock that is lower by so much can add to a time is no more than that, so a value of several
    times the difference counts for what is left of it; one that is not says nothing.
    """
    if abs(gap) <= _CLOCK_TOLERANCE:
        return value, False
    if abs(value) < _OUTWEIGHS * abs(gap):
        return value, True
    return math.copysign(abs(value) - abs(gap), value), False


def _disagree(turn: Turn, stamp_s: float, chain: int) -> bool:
    """Return whether events claim more time than passed, or far less than the host waited for them."""
    launches = (*turn.times_s[:1], *(one * (chain or 1) for one in turn.times_s[1:]))
    if sum(launches) > stamp_s * (1 + _EVENT_SLACK):
        return True
    pairs = zip(turn.whole_s, turn.host_s, strict=True)
    return any(
        whole > host * (1 + _EVENT_SLACK) + _HOST_SLACK_S or host > whole * (1 + _EVENT_SLACK) + _HOST_SLACK_S
        for whole, host in pairs
    )


@contextmanager
def planned(judges: Judges, folders: tuple[Path, Path]) -> Iterator[Pair]:
    """Load both sides and plan from two quads how they are best timed; only a chain is loaded again.

    A letter gets as many launches as a quad has time for, contents and comparisons counted: of every letter's launches
    the first is for nobody.
    """
    sizes = [_contents_bytes(folder) for folder in folders]
    room = _MOST_CONTENTS_BYTES // max(*sizes, 1)
    most = max(1, min(_MOST_LAUNCHES, room // 2 - 1))
    with ExitStack() as stack:
        pair = stack.enter_context(Pair.of(judges, folders, TimingPlan(most, 0)))
        pair.quad(1)
        begin = judges.now_s()
        many = pair.quad(most)
        took_s = judges.now_s() - begin
        shortest_s = min(statistics.median(one) for one in many.times_s.values())
        if 0 < shortest_s < _SHORT_S:
            chain = max(2, min(math.ceil(_CHAIN_S / shortest_s) + 1, _MOST_CHAINED, room // 2 - 1))
            stack.close()
            pair = stack.enter_context(Pair.of(judges, folders, TimingPlan(1, chain)))
        else:
            pair.plan = TimingPlan(max(1, min(most, int(_QUAD_S / max(took_s, 1e-9) * (1 + most)) - 1)), 0)
            pair._noted(many)
        yield pair


def _contents_bytes(folder: Path) -> int:
    """Return the bytes of one slot of a record."""
    record = load_record(folder)
    sizes = {one.name: one.size_bytes for one in record.buffers}
    return sum(sizes[one.view.buffer] for one in record.inputs) + sum(sizes[view.buffer] for view in record.outputs)
