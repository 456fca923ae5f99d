"""Search of a tuning space by records: configurations are compiled ahead while earlier ones are timed.

Samples of the search itself never confirm: the best few are timed again in turn, and the winner on fresh samples, since
the best of hundreds of noisy times looks faster than it is.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from kopt_kb.base.wire import canonical
from kopt_kb.launch.candidate.answers import ShapeSearch
from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.candidate.search import ASKS, Learning, searcher
from kopt_kb.launch.judge.admission import Admission, Objection
from kopt_kb.launch.judge.judging import Judging, Timed
from kopt_kb.launch.judge.makers import Made
from kopt_kb.launch.judge.ranking import Ranking, RankingWorker
from kopt_kb.launch.judge.shelf import Asked, Shelf
from kopt_kb.launch.record.bounds import unfit_result

__all__ = ["AskedConfig", "SearchTools", "Shared", "rank_shape", "search_shape"]

_FIRST_SAMPLES, _SAMPLES, _AGAIN_SAMPLES = 2, 5, 24
"""Launches of each configuration while the space is searched, of one near the best so far, of what is timed again."""
_NEAR = 1.2
"""Times of the best so far: a configuration beyond that is not looked at more closely."""
_BEST, _PREPARED, _AGAIN_LOOKS = 8, 3, 4
"""The best that are timed again; those of them that the file is recorded with meanwhile; looks that each takes."""
_AHEAD = 2
"""Records that may wait for each device: none is idle, and a strategy that learns is told soon."""
_RESERVED = 0.25
"""Share of the seconds that is kept for timing the best again."""
_LATE_S = 0.5
"""Seconds after its end in which what was begun may still be timed, all of it together."""

Told = Callable[[float], None]
AskedConfig = tuple[Mapping[str, object], Told]
"""A configuration, and where its time is told."""


class Shared(Protocol):
    """Ranks a space by processes that share it."""

    def ranked(
        self, shape: str, space: SpaceAsked, body: Request, tools: SearchTools, ends_at: float
    ) -> list[tuple[float, Mapping[str, object]]]:
        """Return (ratio to what the shape has, configuration) of all that was tried, the best first."""


@dataclass(frozen=True, slots=True)
class SearchTools:
    """With what a space is searched.

    Attributes:
        source: The candidate.
        reference: Judges results.
        shelf: Makes records.
        judging: Times them.
        say: Takes a line for each configuration that does not work.
        spent: Takes what seconds went to: records of makers (side by side), times, times again.
        problem: Reference file of a problem outside the list.
        workers: Several devices that rank side by side, the judging one first; none: it times alone.
        shared: Processes that search instead; what they found is confirmed here.
        fact: Says what static facts speak against a record, by its folder; None: nobody knows.
        likely: Takes a shape and a configuration that its search may end with, while nobody needs the makers.
        numbers: Says static facts of a record as numbers, by its folder: by them configurations resemble each other.
    """

    source: bytes
    reference: Path
    shelf: Shelf
    judging: Judging
    say: Callable[[str], None]
    spent: Callable[[str, float], None]
    problem: bytes = b""
    workers: tuple[RankingWorker, ...] = ()
    shared: Shared | None = None
    fact: Callable[[Path], Objection | None] | None = None
    likely: Callable[[str, Mapping[str, object]], None] = lambda *_: None
    numbers: Callable[[Path], Sequence[float] | None] = lambda _: None


def search_shape(shape: str, space: SpaceAsked, body: Request, tools: SearchTools, ends_at: float) -> ShapeSearch:
    """Return the best configuration of a shape.

    Args:
        shape: As written.
        space: What may be chosen.
        body: How many evaluations, dtype, seed.
        tools: With what.
        ends_at: When the search has to be over, in seconds of `time.monotonic`.
    """
    return _Search(shape, space, body, tools, ends_at).run()


def rank_shape(
    shape: str, space: SpaceAsked, body: Request, tools: SearchTools, ends_at: float, asker: Iterator[AskedConfig]
) -> None:
    """Tell the ratio to what the shape has of each configuration that is asked for; nothing is confirmed."""
    search = _Search(shape, space, body, tools, ends_at)
    search.tells_ratios = True
    start = dict(space.start)
    kept = start if space.keep is None else dict(space.keep)

    def wanted() -> Iterator[Asked]:
        yield from filter(None, (search.wanted(kept, None),))
        for config, tell in asker:
            if (one := search.wanted(start | dict(config), tell)) is not None:
                yield one

    stream = tools.shelf.stream(wanted(), tools.shelf.ahead, lambda: time.monotonic() >= ends_at)
    search.rank(stream, canonical(kept), ends_at)


@dataclass(slots=True)
class _Search:
    shape: str
    space: SpaceAsked
    body: Request
    tools: SearchTools
    ends_at: float
    configs: dict[bytes, Mapping[str, object]] = field(default_factory=dict)
    times_s: dict[bytes, float] = field(default_factory=dict)
    folders: dict[bytes, Path] = field(default_factory=dict)
    waiting: dict[bytes, list[Told]] = field(default_factory=dict)
    tells_ratios: bool = False
    unit_s: float = 1.0
    admission: Admission | None = None
    enough: float = math.inf
    left_out: int = 0
    begun: int = 0
    looked_s: float = 0.0

    def run(self) -> ShapeSearch:
        start = dict(self.space.start)
        kept = start if self.space.keep is None else dict(self.space.keep)
        if self.tools.shared is not None:
            return self._shared(self.tools.shared, kept)
        if self.tools.fact is not None:
            self.admission = Admission(self.tools.fact, self.configs, self.times_s, canonical(kept))
        most = self.body.evaluations
        strategy, asker = searcher(self.space.knobs, most, self.body.seed, ASKS * most, [kept, start])
        searched_by = self.ends_at - _RESERVED * max(0.0, self.ends_at - time.monotonic())

        def is_late() -> bool:
            return self._is_over() or time.monotonic() >= searched_by

        stream = self.tools.shelf.stream(
            self._asked(asker, kept, start, math.inf if strategy == "exhaustive" else most),
            self.tools.shelf.ahead, is_late,
            partial(self._chosen, asker, (canonical(kept), canonical(start))) if isinstance(asker, Learning) else None,
        )  # fmt: skip
        if self.admission is not None:
            sound = lambda one, made: not self._unfit(canonical(one.config), made)  # noqa: E731
            stream = self.admission.admitted(stream, sound, is_late)
        stream = self._wanted_still(stream)
        if self.tools.workers:
            self.rank(stream, canonical(kept), searched_by)
        else:
            self._timed_alone(stream, searched_by)
        for line in self.admission.left() if self.admission is not None else ():
            self.tools.say(f"{self.shape} {line}")
        ranked = f", ranked on {count} devices" if (count := len(self.tools.workers)) else ""
        if self._at_floor:
            strategy = f"{strategy}, until it was as fast as {self.space.floor}"
        return self._result(kept, strategy, len(self.times_s), len(self.configs), f"by compiling ahead{ranked}")

    def _asked(
        self,
        asker: Iterator[tuple[dict[str, object], Told]],
        kept: Mapping[str, object],
        start: Mapping[str, object],
        most: float,
    ) -> Iterator[Asked]:
        """Yield what the shape has and its start, which compete too, and so many that the strategy asks for."""
        yield from filter(None, (self.wanted(one, None) for one in (kept, start)))
        self.enough = len(self.configs) + most
        for config, tell in asker:
            if self._is_over():
                return
            if (one := self.wanted({**start, **config}, tell)) is not None:
                yield one

    def _chosen(self, asker: Learning, first: Sequence[bytes], ready: Sequence[tuple[Asked, Made]]) -> int:
        """Return which record that is made is timed next: what the shape has and its start, else the likeliest."""
        for one, made in ready:
            if made.record is not None and (numbers := self.tools.numbers(made.folder)) is not None:
                asker.learn(one.config, numbers)
        keys = [canonical(one.config) for one, _ in ready]
        begin = [keys.index(one) for one in first if one in keys]
        return begin[0] if begin else asker.prefer([one.config for one, _ in ready])

    def _wanted_still(self, stream: Iterator[tuple[Asked, Made]]) -> Iterator[tuple[Asked, Made]]:
        """Yield records as long as evaluations are left; those that were made ahead and not chosen take none."""
        for pair in stream:
            if self._is_over():
                return
            self.begun += 1
            yield pair

    def _is_over(self) -> bool:
        return self._spent >= self.enough or self._at_floor

    @property
    def _spent(self) -> int:
        """Evaluations that were begun; what waits has taken none, nor, where facts are known, what does not compile."""
        return self.begun - self.left_out

    @property
    def _at_floor(self) -> bool:
        """Whether something is as fast as the machine was ever seen to be on this footprint."""
        return min(self.times_s.values(), default=math.inf) <= (self.space.floor_s or -math.inf)

    def _shared(self, shared: Shared, kept: Mapping[str, object]) -> ShapeSearch:
        """Return the best of what other processes ranked, confirmed on the judging device."""
        begin, reserved = time.monotonic(), _RESERVED * max(0.0, self.ends_at - time.monotonic())
        start = dict(self.space.start)
        found = shared.ranked(self.shape, self.space, self.body, self.tools, self.ends_at - reserved)
        self.tools.spent("times", time.monotonic() - begin)
        best = [start | dict(config) for ratio, config in found if math.isfinite(ratio)][:_BEST]
        asked = [one for one in map(partial(self.wanted, tell=None), [dict(kept), *best]) if one is not None]
        try:
            records = list(zip(asked, self.tools.shelf.all(asked, self.ends_at), strict=True))
        except TimeoutError:
            records = []
        for one, made in records:
            key = canonical(one.config)
            ratio = next((ratio for ratio, config in found if start | dict(config) == dict(one.config)), 1.0)
            if why := self._unfit(key, made):
                self._refuse(key, why)
            else:
                self._settle(key, ratio)
        failed = sum(not math.isfinite(ratio) for ratio, _ in found)
        return self._result(kept, "model, shared", len(found), len(found), "by compiling ahead", failed)

    def _result(
        self, kept: Mapping[str, object], strategy: str, evaluated: int, asked: int, pruning: str,
        failed: int | None = None,
    ) -> ShapeSearch:  # fmt: skip
        """Confirm the best and return the answer."""
        begin = time.monotonic()
        found = self._confirmed(canonical(kept))
        self.tools.spent("times again", time.monotonic() - begin)
        wrong = sum(not math.isfinite(value) for value in self.times_s.values())
        best = min(found, key=found.__getitem__, default=None)
        return ShapeSearch(
            config=kept if best is None else self.configs[best], median_s=None if best is None else found[best],
            space=math.prod(map(len, self.space.knobs.values())), strategy=strategy, evaluated=evaluated,
            failed=wrong if failed is None else failed, asked=asked, pruning=pruning,
            pruned=None if self.admission is None else self.admission.reasons(),
        )  # fmt: skip

    def _timed_alone(self, stream: Iterator[tuple[Asked, Made]], searched_by: float) -> None:
        """Time each record on the judging device as it is made."""
        for one, made in stream:
            key, begin = canonical(one.config), time.monotonic()
            value = self._timed(key, one, made, searched_by)
            self.tools.spent("makers", made.seconds)
            self.looked_s += (took_s := time.monotonic() - begin)
            self.tools.spent("times", took_s)
            self._settle(key, value)

    def rank(self, stream: Iterator[tuple[Asked, Made]], kept: bytes, searched_by: float) -> None:
        """Have each record timed by whichever device is free, as a ratio to what the shape has on that device."""
        begin, workers = time.monotonic(), self.tools.workers
        with ExitStack() as stack:
            ranking: Ranking | None = None
            held: list[bytes] = []

            def started(incumbent: bytes) -> Ranking:
                folder = self.folders[incumbent]
                made = Ranking(workers, folder, self.tools.reference, (_FIRST_SAMPLES, _SAMPLES), searched_by, _NEAR)
                for key in held:
                    made.submit(key, self.folders[key])
                return stack.enter_context(made)

            for one, made in stream:
                key = canonical(one.config)
                self.tools.spent("makers", made.seconds)
                if why := self._unfit(key, made):
                    self._refuse(key, why)
                    continue
                if ranking is None:
                    held.append(key)
                    ranking = started(key) if key == kept else None
                else:
                    ranking.submit(key, self.folders[key])
                self._take(ranking, _AHEAD * len(workers))
            if ranking is None and held:  # what the shape has can't be recorded
                ranking = started(held[0])
            self._take(ranking, 0)
            for why in ranking.lost if ranking is not None else ():
                self.tools.say(why)
        self.tools.spent("times", time.monotonic() - begin)

    def _take(self, ranking: Ranking | None, most_waiting: int) -> None:
        for one in ranking.ready(most_waiting) if ranking is not None else ():
            if ranking is not None and self.tells_ratios:
                self.unit_s = ranking.first_s or 1.0
            if one.problem:
                self._refuse(one.key, one.problem)
            else:
                self._settle(one.key, one.time_s)

    def _settle(self, key: bytes, time_s: float) -> None:
        self.times_s[key] = time_s
        told = self.waiting.pop(key, ())
        if self.admission is not None and key not in self.folders:
            self.left_out += 1  # nothing was launched, so nothing is known of the times beside it
            return
        for tell in told:
            tell(time_s / self.unit_s)

    def _refuse(self, key: bytes, why: str) -> None:
        self.tools.say(f"{self.shape} {dict(self.configs[key])}: {why}")
        self._settle(key, math.inf)

    def wanted(self, config: Mapping[str, object], tell: Told | None) -> Asked | None:
        """Return the record of a configuration; None when it was asked for before, and its time is told then."""
        key, known = canonical(config), canonical(config) in self.configs
        if tell is not None and key in self.times_s:
            tell(self.times_s[key] / self.unit_s)
        elif tell is not None:
            self.waiting.setdefault(key, []).append(tell)
        self.configs[key] = config
        return None if known else Asked(self.tools.source, self.shape, self.body.dtype, config, self.tools.problem)

    def _timed(self, key: bytes, one: Asked, made: Made, searched_by: float) -> float:
        """Return the median time of a configuration, infinite for one that does not compile, run, or is wrong."""
        why, late = self._unfit(key, made), searched_by + _LATE_S
        if not why and time.monotonic() >= late:  # as many as were made ahead may wait here: none gets seconds
            why = "was not timed within the seconds of the search"
        if not why:
            try:
                found = self._first(made.folder, max(searched_by, min(time.monotonic() + _LATE_S, late)))
                if not found.problem:
                    return statistics.median(found.times_s)
                why = found.problem
            except TimeoutError:
                why = "was not timed within the seconds of the search"
        self.tools.say(f"{one.shape} {dict(one.config)}: {why}")
        return math.inf

    def _first(self, folder: Path, ends_at: float) -> Timed:
        """Return times of a configuration: a few, and more when they are close to the best so far."""
        tools = self.tools
        (found,) = tools.judging.time([folder], tools.reference, _FIRST_SAMPLES, ends_at, again=True)
        best = min(self.times_s.values(), default=math.inf)
        if found.problem or statistics.median(found.times_s) > _NEAR * best:
            return found
        return tools.judging.time([folder], tools.reference, _SAMPLES, ends_at, again=True)[0]

    def _unfit(self, key: bytes, made: Made) -> str:
        """Return why there is nothing to time; else its folder is kept."""
        record = made.record
        why = str(made.error) if record is None else record.not_replayable or unfit_result(record)
        if not why:
            self.folders[key] = made.folder
        limits = self.body.pruning.limits if self.body.pruning is not None else None
        if limits is not None and "out of resource: shared memory" in why:  # as the maker was told by the same row
            return f"{why} ({limits.cite('shared_memory_per_block')})"
        return why

    def _confirmed(self, kept: bytes) -> dict[bytes, float]:
        """Return the times of the best, taken again in turn, and of the winner on samples that chose nothing."""
        ranked = sorted(
            filter(lambda key: math.isfinite(self.times_s[key]), self.times_s), key=self.times_s.__getitem__
        )
        most = self._finalists(len(ranked))
        best = ranked[:most] + [key for key in ranked[most:] if key == kept]
        for key in best[:_PREPARED]:
            self.tools.likely(self.shape, self.configs[key])
        again = self._again(best, again=True) if best else {}
        if not again:
            return {key: self.times_s[key] for key in best[:1]}
        winner = min(again, key=again.__getitem__)
        self.tools.likely(self.shape, self.configs[winner])
        return self._again([winner], again=False) or {winner: again[winner]}

    def _finalists(self, known: int) -> int:
        """Return how many of the best can be timed again in the seconds left, beside the kept one and the winner."""
        each_s, left_s = _AGAIN_LOOKS * self.looked_s / max(known, 1), self.ends_at - time.monotonic()
        return _BEST if each_s * (_BEST + 2) <= max(left_s, 0.0) else max(1, int(left_s / each_s) - 2)

    def _again(self, keys: Sequence[bytes], *, again: bool) -> dict[bytes, float]:
        tools, folders = self.tools, [self.folders[key] for key in keys]
        try:
            found = tools.judging.time(folders, tools.reference, _AGAIN_SAMPLES, self.ends_at, again=again)
        except TimeoutError:
            return {}
        return {key: statistics.median(one.times_s) for key, one in zip(keys, found, strict=True) if not one.problem}
