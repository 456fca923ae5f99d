"""Claims about the search by records: what is timed, what confirms, and that it ends in time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.candidate.job import PruningRules, Request, SpaceAsked
from kopt_kb.launch.judge import search
from kopt_kb.launch.judge.judging import Timed
from kopt_kb.launch.judge.makers import Made, NotRecordedError
from kopt_kb.launch.judge.search import SearchTools, search_shape
from kopt_kb.launch.judge.shelf import Asked
from kopt_kb.launch.search.searcher import Searcher
from tests.kopt_kb.launch.counts.test_launch_limits import LIMITS

pytestmark = pytest.mark.core
SPACE = SpaceAsked({"A": 1, "B": 1}, {"A": [1, 2, 3, 4], "B": [1, 2, 3]}, {"A": 4, "B": 3})
BODY = Request(shapes=("8x8",), dtype="bf16", evaluations=20, seed=1)


class Replayable:
    """A record as far as a search looks at it."""

    not_replayable = ""
    buffers = outputs = ()


class Bench:
    """Shelf and judge in one: the folder's name is the configuration, its time a function of it."""

    ahead = 4

    def __init__(self, cost: Callable[[Mapping[str, Any]], float], seconds: float = 0.0) -> None:
        self.cost, self.seconds = cost, seconds
        self.timed: list[tuple[int, int]] = []
        self.configs: dict[str, Mapping[str, Any]] = {}

    def stream(
        self, asked: Iterator[Asked], ahead: int, ended: Callable[[], bool], _: Any = None
    ) -> Iterator[tuple[Asked, Made]]:
        """Yield each at once; B = 2 does not compile."""
        assert ahead == self.ahead
        for number, one in enumerate(asked):
            if ended():
                return
            self.configs[str(number)] = one.config
            record: Any = Replayable()
            fails = one.config["B"] == 2
            yield one, Made(Path(str(number)), None if fails else record, NotRecordedError("no") if fails else None)

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Return times; the first look flatters every configuration by a different amount."""
        assert reference.name == "reference.py"
        assert again or len(records) == 1, "what chooses may see contents again, what confirms may not"
        self.timed.append((len(records), launches))
        time.sleep(self.seconds)
        if time.monotonic() > ends_at:
            raise TimeoutError
        luck = 0.5 if len(records) == 1 and launches < 20 else 1.0
        found = []
        for one in records:
            cost = self.cost(self.configs[one.name])
            found.append(Timed((luck * cost,) * launches, "" if cost > 0 else "wrong"))
        return found


def searched(bench: Bench, body: Request = BODY, seconds: float = 30.0, space: SpaceAsked = SPACE) -> Any:
    """Search on the bench; returns the answer and what was said."""
    said: list[str] = []
    any_bench: Any = bench
    tools = SearchTools(b"", Path("reference.py"), any_bench, any_bench, said.append, lambda *_: None)
    return search_shape("8x8", space, body, tools, time.monotonic() + seconds), said


def test_the_best_is_timed_again_and_the_winner_afresh() -> None:
    """Eight in turn, then one; the answer's time is not the one that flattered."""
    bench = Bench(lambda config: 1e-6 * (config["A"] + config["B"]))
    found, said = searched(bench)
    assert dict(found.config) == {"A": 1, "B": 1}
    assert found.median_s == pytest.approx(2e-6)
    assert (found.space, found.evaluated, found.failed, found.strategy) == (12, 12, 4, "exhaustive")
    assert bench.timed[-2:] == [(8, 24), (1, 24)]
    assert len(said) == 4


def test_what_is_far_from_the_best_gets_two_launches() -> None:
    """What is near gets five more, the first of all among it."""
    bench = Bench(lambda config: {1: 10e-6, 2: 11e-6, 3: 13e-6, 4: 10.5e-6}[config["A"]])
    searched(bench, space=replace(SPACE, knobs={"A": [1, 2, 3, 4], "B": [1]}, keep={"A": 1, "B": 1}))
    assert bench.timed[:-2] == [(1, 2), (1, 5), (1, 2), (1, 5), (1, 2), (1, 2), (1, 5)]


def test_what_a_shape_has_competes() -> None:
    """It is first, and timed again whatever its place."""
    bench = Bench(lambda config: 1e-6 if config == SPACE.keep else 2e-6 if config["A"] > 1 else 0.0)
    found, _ = searched(bench)
    assert dict(bench.configs["0"]) == dict(SPACE.keep or {})
    assert dict(found.config) == dict(SPACE.keep or {})
    worst = Bench(lambda config: 9e-6 if config == SPACE.keep else 1e-6)
    large = replace(SPACE, knobs={"A": list(range(1, 13)), "B": [1, 3]}, keep={"A": 12, "B": 3})
    keep: Any = large.keep
    worst.cost = lambda config: 9e-6 if config == keep else 1e-6
    searched(worst, replace(BODY, evaluations=40), space=large)
    assert worst.timed[-2:] == [(9, 24), (1, 24)]


def test_nothing_works() -> None:
    """The configuration in use stays, without a time."""
    found, said = searched(Bench(lambda _: 0.0))
    assert (dict(found.config), found.median_s, found.failed) == (dict(SPACE.keep or {}), None, 12)
    assert any("wrong" in line for line in said)


def test_a_limit_of_the_compiler_is_named_with_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a maker refuses for the shared memory that the wiki says there is."""
    monkeypatch.setattr(NotRecordedError, "__str__", lambda _: "OutOfResources: out of resource: shared memory, 9 B")
    _, said = searched(Bench(lambda _: 1e-6), replace(BODY, pruning=PruningRules("sm_90", LIMITS)))
    assert said
    assert all(one.endswith("9 B (shared_memory_per_block=102400 <- targets/x.md:L9)") for one in said)


def test_evaluations_bound_a_large_space() -> None:
    """Beside what the shape has and its start."""
    large = replace(SPACE, knobs={"A": list(range(40)), "B": [1, 3, 4]})
    found, _ = searched(Bench(lambda config: 1e-6 * (1 + config["A"])), replace(BODY, evaluations=7), space=large)
    assert found.evaluated == 9
    assert found.strategy == "model"


class Pool(Bench):
    """Makers that have as many records ready as may lie ahead."""

    ahead = 12

    def stream(
        self, asked: Iterator[Asked], ahead: int, ended: Callable[[], bool], choose: Any = None
    ) -> Iterator[tuple[Asked, Made]]:
        """Yield the chosen one of those at hand."""
        ready: list[Asked] = []
        while not ended():
            while len(ready) < ahead and (new := next(asked, None)) is not None:
                ready.append(new)
            if not ready:
                return
            record: Any = Replayable()
            made = [(one, Made(Path(f"made {one.config}"), record)) for one in ready]
            one = ready.pop(0 if choose is None else choose(made))
            self.configs[(name := str(len(self.configs)))] = one.config
            yield one, Made(Path(name), record)


def test_records_made_ahead_are_timed_in_the_order_of_what_is_known_by_then() -> None:
    """What the shape has and its start come first; what was made and not chosen takes no evaluation."""
    bench = Pool(lambda config: 1e-6 * (1 + config["A"] + config["B"]))
    space = replace(SPACE, knobs={"A": list(range(20)), "B": list(range(10))}, start={"A": 19, "B": 9}, keep=None)
    found, _ = searched(bench, replace(BODY, evaluations=24), space=space)
    assert dict(bench.configs["0"]) == {"A": 19, "B": 9}
    assert found.evaluated == 25
    assert found.asked > found.evaluated
    assert found.config["A"] + found.config["B"] <= 3
    late = [sum(bench.configs[str(at)].values()) for at in range(13, 25)]
    early = [sum(bench.configs[str(at)].values()) for at in range(1, 7)]
    assert sum(late) / 12 < sum(early) / 6


def test_facts_of_what_is_made_are_searched_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """As numbers of each record that is at hand; a record of which nothing is known teaches nothing."""
    read: list[str] = []
    learnt: list[tuple[int, Sequence[float]]] = []
    monkeypatch.setattr(Searcher, "learn", lambda _, place, numbers: learnt.append((place, numbers)))

    def numbers(folder: Path) -> Sequence[float] | None:
        read.append(folder.name)
        return None if "'A': 3," in folder.name else (64.0, 0.0)

    bench: Any = Pool(lambda config: 1e-6 * (1 + config["A"] + config["B"]))
    tools = SearchTools(b"", Path("reference.py"), bench, bench, _quiet, lambda *_: None, numbers=numbers)
    space = replace(SPACE, knobs={"A": list(range(20)), "B": list(range(10))}, start={"A": 19, "B": 9}, keep=None)
    search_shape("8x8", space, replace(BODY, evaluations=24), tools, time.monotonic() + 60)
    assert len(set(read)) > 24
    assert len(learnt) == sum("'A': 3," not in one for one in read)
    assert {numbers for _, numbers in learnt} == {(64.0, 0.0)}


def _quiet(_: str) -> None:
    """Take what is said and print nothing."""


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_it_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that run out while it searches leave the best so far; it takes one timing longer than it may, at most."""
    clock = Clock()
    for module in (search, sys.modules[__name__]):
        monkeypatch.setattr(module, "time", clock)
    found, _ = searched(Bench(lambda config: 1e-6 * config["A"], seconds=0.1), seconds=0.8)
    assert 100.3 <= clock.now_s < 100.95
    assert found.evaluated < 12
    assert found.median_s is not None


class Loading(Bench):
    """Every record takes its seconds, and four times as many where it is timed again."""

    def time(self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, **more: Any) -> Any:
        """Wait, then return times."""
        time.sleep(self.seconds * (4 * len(records) - 1) * (launches >= 24))
        return super().time(records, reference, launches, ends_at, **more)


@pytest.mark.parametrize(("seconds", "finalists"), [(30.0, 8), (4.0, 5)])
def test_as_many_are_timed_again_as_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch, seconds: float, finalists: int
) -> None:
    """Rather few than none: what flattered in the search is no time of the answer."""
    clock = Clock()
    for module in (search, sys.modules[__name__]):
        monkeypatch.setattr(module, "time", clock)
    bench = Loading(lambda config: 1e-6 * (config["A"] + config["B"]), seconds=0.1)
    found, _ = searched(bench, seconds=seconds)
    assert bench.timed[-2:] == [(finalists, 24), (1, 24)]
    assert found.median_s == pytest.approx(2e-6)
    assert clock.now_s <= 100.0 + seconds


def test_no_record_within_the_seconds_leaves_what_the_shape_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was looked at, and the time for looking again is over, too."""
    clock = Clock()
    for module in (search, sys.modules[__name__]):
        monkeypatch.setattr(module, "time", clock)
    bench = Bench(lambda _: 1e-6)
    monkeypatch.setattr(bench, "stream", lambda *_: clock.sleep(1.25) or iter(()))
    found, _ = searched(bench, seconds=1.0)
    assert (dict(found.config), found.median_s, found.evaluated) == (dict(SPACE.keep or {}), None, 0)


class Behind(Bench):
    """All is made ahead: it waits to be timed when the seconds are over."""

    def stream(self, asked: Iterator[Asked], ahead: int, ended: Callable[[], bool], _: Any = None) -> Any:
        """Yield what was made, whatever the time."""
        del ended
        return super().stream(asked, ahead, lambda: False)


def test_what_was_made_ahead_gets_no_second_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of them would take eight seconds more."""
    clock = Clock()
    for module in (search, sys.modules[__name__]):
        monkeypatch.setattr(module, "time", clock)
    found, said = searched(Behind(lambda _: 1e-6, seconds=0.9), seconds=0.5)
    assert clock.now_s < 103
    assert (found.evaluated, sum("not timed within" in line for line in said)) == (12, 8)


class Helper(Bench):
    """A device of its own pace that ranks; it knows the configurations of the first one's shelf."""

    faults = 0

    def __init__(self, first: Bench, pace: float) -> None:
        super().__init__(lambda config: pace * first.cost(config))
        self.configs = first.configs

    def machine(self, *_: float) -> Any:
        """Return nothing that anybody looks at."""


def test_several_devices_rank_and_the_first_confirms() -> None:
    """The slower device's times are ratios; each configuration is counted once, the finalists are the first's alone."""
    first: Any = Bench(lambda config: 1e-6 * (config["A"] + config["B"]) if config["A"] < 4 else 0.0, seconds=1e-3)
    first.faults = 0
    helper: Any = Helper(first, 3.0)
    space = replace(SPACE, keep={"A": 3, "B": 3})
    said: list[str] = []
    tools = SearchTools(b"", Path("reference.py"), first, first, said.append, lambda *_: None, workers=(first, helper))
    found = search_shape("8x8", space, BODY, tools, time.monotonic() + 30)
    assert dict(found.config) == {"A": 1, "B": 1}
    assert found.median_s == pytest.approx(2e-6)
    assert (found.evaluated, found.failed, found.pruning) == (12, 6, "by compiling ahead, ranked on 2 devices")
    assert first.timed[-2:] == [(6, 24), (1, 24)]
    assert {count for count, _ in helper.timed} == {1}, "a helper times no finalists"
    assert any("wrong" in line for line in said)


def test_a_shape_without_a_usable_start_is_ranked_against_another() -> None:
    """What the shape has is not recorded: the first that is takes its place."""
    first: Any = Bench(lambda config: 1e-6 * (config["A"] + config["B"]))
    first.faults = 0
    space = replace(SPACE, keep={"A": 3, "B": 2}, start={"A": 4, "B": 2})
    tools = SearchTools(b"", Path("reference.py"), first, first, lambda _: None, lambda *_: None, workers=(first,))
    assert dict(search_shape("8x8", space, BODY, tools, time.monotonic() + 30).config) == {"A": 1, "B": 1}
