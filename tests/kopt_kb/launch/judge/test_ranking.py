"""Claims about ranking on several devices: ratios on the own device, workers that go, each record counted once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kopt_kb.base.errors import FindingError
from kopt_kb.launch.judge.judging import JudgeDevice, Timed
from kopt_kb.launch.judge.ranking import Ranked, Ranking, WorkerGoneError

pytestmark = pytest.mark.core
INCUMBENT, REFERENCE = Path("100"), Path("reference.py")


class Bench:
    """A device by its own pace: a record's name is its time in µs; `goes` says which ask ends it, and how."""

    def __init__(self, pace: float, goes: Callable[[str, int], str] = lambda *_: "", wait_s: float = 0.0) -> None:
        self.pace, self.goes, self.wait_s = pace, goes, wait_s
        self.faults, self.restarts = 0, 0
        self.asked: list[str] = []
        self.threads: set[int] = set()

    def machine(self, *_: float) -> JudgeDevice:
        self.restarts += 1
        if self.goes("machine", self.restarts):
            raise FindingError("the device is lost", where="replay")
        return JudgeDevice("Bench", str(self.pace), "13")

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        assert (len(records), reference, again) == (1, REFERENCE, True)
        self.threads.add(threading.get_ident())
        name = records[0].name
        self.asked.append(name)
        time.sleep(self.wait_s)
        how = self.goes(name, self.asked.count(name))
        if how == "gone":
            raise WorkerGoneError("killed", where="replay")
        if how == "fault":
            self.faults += 1
            return [Timed((), "the judge ended")]
        if how == "wrong":
            return [Timed((), "differs")]
        if time.monotonic() > ends_at:
            raise TimeoutError
        return [Timed((float(name) * 1e-6 * self.pace,) * launches)]

    def close(self) -> None:
        pass


def ranked(workers: Sequence[Bench], names: Sequence[str], seconds: float = 30.0) -> tuple[dict[str, Ranked], Ranking]:
    """Rank records; each answer comes once."""
    with Ranking(workers, INCUMBENT, REFERENCE, (3, 3), time.monotonic() + seconds) as ranking:
        found: list[Ranked] = []
        for name in names:
            ranking.submit(name.encode(), Path(name))
            found += ranking.ready(2 * len(workers))
        found += ranking.ready(0)
    counts = Counter(one.key for one in found)
    assert set(counts.values()) <= {1}
    assert len(found) == len(names)
    return {one.key.decode(): one for one in found}, ranking


def test_a_device_twice_as_slow_ranks_the_same() -> None:
    """Ratios to the incumbent on the own device; both devices work, each in one thread."""
    devices = [Bench(1.0, wait_s=2e-3), Bench(2.0, wait_s=2e-3)]
    names = [str(one) for one in range(50, 150)]
    found, ranking = ranked(devices, names)
    times = {name: one.time_s for name, one in found.items()}
    assert sorted(times, key=times.__getitem__) == names
    assert min(ranking.counts) > 3
    assert sum(ranking.counts) == 100
    assert [len(one.threads) for one in devices] == [1, 1]
    assert sum(one.asked.count("100") for one in devices) > 6, "the incumbent is timed again as clocks drift"


@pytest.mark.parametrize("how", ["gone", "fault"])
def test_a_record_whose_worker_went_is_tried_again_and_counted_once(how: str) -> None:
    """The first ask of 77 on any device goes wrong with its worker."""
    first = threading.Lock()

    def goes(name: str, ask: int) -> str:
        return how if name == "77" and first.acquire(blocking=False) else ""

    devices = [Bench(1.0, goes), Bench(1.0, goes)]
    found, ranking = ranked(devices, ["80", "77", "90"])
    assert {name: round(one.time_s * 1e6) for name, one in found.items()} == {"80": 80, "77": 77, "90": 90}
    assert sum(one.asked.count("77") for one in devices) == 2
    assert sum(one.restarts for one in devices) == 1
    assert sum(ranking.counts) == 3


@pytest.mark.parametrize("how", ["gone", "fault"])
def test_a_record_that_ends_every_worker_is_at_fault(how: str) -> None:
    """Two tries; the others are ranked all the same."""
    devices = [Bench(1.0, lambda name, _: how if name == "77" else "") for _ in range(2)]
    found, _ = ranked(devices, ["80", "77", "90"])
    assert found["77"].problem
    assert not found["80"].problem and not found["90"].problem
    assert sum(one.asked.count("77") for one in devices) == 2


def test_a_wrong_record_is_not_tried_again() -> None:
    """Its worker is well."""
    device = Bench(1.0, lambda name, _: "wrong" if name == "77" else "")
    found, _ = ranked([device], ["77", "78"])
    assert (found["77"].problem, device.asked.count("77")) == ("differs", 1)


def test_a_lost_device_takes_no_more() -> None:
    """It goes, does not come back; the other one does its share, and what was lost is named."""
    bad = Bench(1.0, lambda name, _: "gone" if name != "machine" else "lost")
    good = Bench(1.0, wait_s=1e-3)
    found, ranking = ranked([bad, good], [str(one) for one in range(60, 80)])
    assert all(not one.problem for one in found.values())
    assert ranking.lost == ["device 0: the device is lost"]
    assert len(bad.asked) == 1


def test_without_a_device_every_record_is_answered() -> None:
    """None is ranked, none is forgotten."""
    found, ranking = ranked([Bench(1.0, lambda name, _: "wrong" if name == "100" else "")], ["70", "71", "72"])
    assert {one.problem for one in found.values()} == {"no device is left"}
    assert ranking.lost == ["device 0: the incumbent can't be timed: differs"]


def test_time_that_is_over_answers_what_is_left() -> None:
    """Records that nobody came to are said to be that."""
    begin = time.monotonic()
    found, _ = ranked([Bench(1.0, wait_s=0.05)], [str(one) for one in range(60, 90)], seconds=0.3)
    assert time.monotonic() - begin < 60
    assert any("within the seconds" in one.problem for one in found.values())


def test_what_is_near_the_best_is_looked_at_twice() -> None:
    """A slow record is timed a few times only."""
    device = Bench(1.0)
    with Ranking([device], INCUMBENT, REFERENCE, (2, 5), time.monotonic() + 30, near=1.15) as ranking:
        for name in ("50", "55", "90"):
            ranking.submit(name.encode(), Path(name))
        found = {one.key.decode(): one.time_s for one in ranking.ready(0)}
    assert sorted(found, key=found.__getitem__) == ["50", "55", "90"]
    assert [device.asked.count(name) for name in ("50", "55", "90")] == [2, 2, 1]
