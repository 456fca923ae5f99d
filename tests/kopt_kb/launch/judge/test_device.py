"""The loop's judge on simulated devices: checks, times, contests, and the end of its time."""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import FindingError, KoptError
from kopt_kb.launch.judge.channel import ChildEndedError
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.judging import JudgeDevice

Records = Callable[..., Path]
REFERENCE = Path("reference.py")


@pytest.fixture
def judging(lab: Any) -> Iterator[DeviceJudging]:
    """On the lab's devices."""
    made = DeviceJudging(lab.starting())
    yield made
    made.close()
    made.close()


def test_the_machine(judging: DeviceJudging) -> None:
    """Name, identity, driver; a process from then on."""
    assert judging.pid == 0
    found = judging.machine()
    assert found == JudgeDevice("Fake GPU", found.uuid, "13.0")
    assert judging.pid > 0


def test_checks_cover_all_trials_of_the_operation(judging: DeviceJudging, record: Records, lab: Any) -> None:
    """And as many fresh inputs as asked for."""
    found = judging.check(record("plusone__us10"), REFERENCE, 3, math.inf)
    assert (found.problem, found.rel_l2_err) == ("", 0.0)
    assert found.checks > 3
    assert lab.reference.filled == found.checks
    assert lab.reference.checks_asked > 0


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("wrong__us1", "differs"), ("remembers__us1", "differs"), ("beyond__us1", "were written"),
        ("fault__us1", "ILLEGAL_ADDRESS"), ("refused__us1", "INVALID_IMAGE"), ("dies__us1", "ended"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_record(judging: DeviceJudging, record: Records, entry: str, words: str) -> None:
    """Is an answer, of a check as of times; the next record is judged all the same."""
    assert words in judging.check(record(entry), REFERENCE, 3, math.inf).problem
    good, bad = judging.time([record("plusone__us10"), record(entry)], REFERENCE, 4, math.inf)
    assert words in bad.problem and not bad.times_s
    assert good.problem == "" and good.times_s == pytest.approx((10e-6,) * 4, rel=0.03)


def test_times_of_one_record_and_of_several(judging: DeviceJudging, record: Records) -> None:
    """At least as many launches as asked for."""
    (one,) = judging.time([record("plusone__us20")], REFERENCE, 5, math.inf)
    assert len(one.times_s) == 5
    several = judging.time([record(f"plusone__us{20 + number}") for number in range(3)], REFERENCE, 6, math.inf)
    assert [len(found.times_s) for found in several] == [8, 8, 8]
    assert sorted(several, key=lambda found: found.times_s[0]) == several


def test_contests(judging: DeviceJudging, record: Records) -> None:
    """In the words of the loop; a side that is wrong or failed is a problem."""

    def held(old: str, new: str, threshold: float = 0.0) -> Any:
        sides = {"4": {"incumbent": record(old), "candidate": record(new)}}
        return judging.contest(sides, REFERENCE, threshold, math.inf)

    found = held("plusone__us100", "plusone__us90")
    assert found.problem == "" and found.verdict.verdict == "faster"
    assert found.verdict.gain_pct == pytest.approx(11.1, abs=1)
    assert found.verdict.least_pct < found.verdict.gain_pct < found.verdict.most_pct
    assert found.verdict.threshold_pct == pytest.approx(0.501, abs=1e-3)
    assert len(found.times_s["4"]["candidate"]) >= 24
    assert held("plusone__us100", "plusone__us90", 0.2).verdict.verdict == "not_faster"
    for old, new, side in (("plusone__us9", "wrong__us9", "candidate"), ("fault__us9", "plusone__us9", "incumbent")):
        failed = held(old, new)
        assert failed.verdict is None and failed.problem.startswith(f"{side}: ")


def test_judges_are_replaced(judging: DeviceJudging, record: Records, lab: Any) -> None:
    """The next answer comes from fresh processes; with none there is nothing to replace."""
    judging.refresh()
    for _ in range(2):
        assert judging.check(record("plusone__us9"), REFERENCE, 1, math.inf).problem == ""
    assert len(lab.started) == 1
    judging.refresh()
    assert judging.check(record("plusone__us9"), REFERENCE, 1, math.inf).problem == ""
    assert len(lab.started) == 2


def test_a_spoiled_contest_is_unavailable(judging: DeviceJudging, record: Records, lab: Any) -> None:
    """No look, no gain."""
    lab.world.throttle = ("power brake",)
    sides = {"4": {"incumbent": record("plusone__us100"), "candidate": record("plusone__us90")}}
    found = judging.contest(sides, REFERENCE, 0.0, math.inf)
    assert (found.verdict.verdict, found.verdict.gain_pct, found.verdict.rounds) == ("unavailable", None, 0)
    assert "spoiled" in found.verdict.reason


def test_a_reference_that_fails_is_raised(judging: DeviceJudging, record: Records) -> None:
    """It is nobody's fault among the records."""
    for ask in (lambda: judging.check(record("plusone__us1"), Path("failing.py"), 1, math.inf),
                lambda: judging.time([record("plusone__us1")], Path("failing.py"), 1, math.inf)):  # fmt: skip
        with pytest.raises(FindingError, match="the reference file fails"):
            ask()


def test_time_that_is_over(judging: DeviceJudging, record: Records, lab: Any) -> None:
    """No answer; the next question has time again, and nothing stays loaded."""
    judging.machine()
    with pytest.raises(TimeoutError):
        judging.check(record("plusone__us1"), REFERENCE, 1, time.monotonic() - 1)
    answer = lab.reference.answer

    def slow(question: Any) -> Any:
        time.sleep(0.3 if question.message == "fill" else 0)
        return answer(question)

    lab.reference.answer = slow
    sides = {"4": {"incumbent": record("plusone__us100"), "candidate": record("plusone__us90")}}
    with pytest.raises(TimeoutError):
        judging.contest(sides, REFERENCE, 0.0, time.monotonic() + 0.5)
    lab.reference.answer = answer
    assert judging.contest(sides, REFERENCE, 0.0, math.inf).verdict is not None
    assert all(len(device.memory) == 2 for device in lab.started)


def test_a_profile_is_of_a_replay(
    lab: Any, record: Records, ncu: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: ModuleType
) -> None:
    """On inputs of the reference, which compares the output too; without ncu nothing is started."""
    program = (sys.executable, "-P", str(fake.__file__), "--profiled")
    judging = DeviceJudging(lab.starting(), profiled=program)
    good, wrong = record("plusone__us10"), record("wrong__us10")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "ncu is not installed" in judging.profile(good, REFERENCE, math.inf).problem
    tools = tmp_path / "tools"
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    log = ncu.install(tools, ncu.report(("plusone__us10", (1, 1, 1), (32, 1, 1))))
    found = judging.profile(good, REFERENCE, math.inf)
    assert (found.problem, found.kernels) == ("", ("plusone__us10",))
    assert "plusone__us10" in found.csv
    assert judging.profile(wrong, REFERENCE, math.inf).problem == "under the profiler: differs from the reference"
    with pytest.raises(TimeoutError):
        judging.profile(good, REFERENCE, time.monotonic() - 1)
    judging.close()
    assert log.read_text().splitlines()[0].endswith("on any")
    third = DeviceJudging(replace(lab.starting(), env={"CUDA_VISIBLE_DEVICES": "3"}), profiled=program)
    assert third.profile(good, REFERENCE, math.inf).problem == ""
    third.close()
    assert {line.rpartition(" ")[2] for line in log.read_text().splitlines()[-1:]} == {"3"}


class Slow:
    """A child whose answers take the seconds that are drawn; one that would come too late ends it."""

    def __init__(self, inner: Any, clock: Any, draw: random.Random) -> None:
        self.inner, self.clock, self.draw = inner, clock, draw
        self.pid, self.end = inner.pid, inner.end

    def _waits(self, limit_s: float) -> None:
        took_s = self.draw.choice((0.0, 0.0, 0.01, 0.3, 3.0, 100.0))
        self.clock.now_s += min(took_s, limit_s)
        if took_s > limit_s:
            self.inner.ended = True
            raise ChildEndedError("the child says nothing")

    def first(self, kind: Any, limit_s: float) -> Any:
        self._waits(limit_s)
        return self.inner.first(kind, limit_s)

    def ask(self, question: Any, kind: Any, limit_s: float) -> Any:
        self._waits(limit_s)
        return self.inner.ask(question, kind, limit_s)


def slow(make: Callable[[], Any], clock: Any, draw: random.Random) -> Slow:
    """Start a child that is."""
    return Slow(make(), clock, draw)


@pytest.mark.parametrize("what", ["machine", "check", "time", "contest"])
def test_slow_children_end_with_the_time(what: str, lab: Any, record: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within two seconds of the moment that was given, memory given back and children replaced included."""
    clock = SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now_s)
    folders, late_s = {"incumbent": record("plusone__us20"), "candidate": record("plusone__us10")}, []
    for seed in range(40):
        draw, starting = random.Random(seed), lab.starting()
        made = (partial(slow, make, clock, draw) for make in (starting.judge, starting.reference))
        judging = DeviceJudging(replace(starting, **dict(zip(("judge", "reference"), made, strict=True))))
        asked: dict[str, Callable[[float], object]] = {
            "machine": judging.machine,
            "check": lambda ends_at, of=judging: of.check(folders["candidate"], REFERENCE, 3, ends_at),
            "time": lambda ends_at, of=judging: of.time([*folders.values()], REFERENCE, 4, ends_at),
            "contest": lambda ends_at, of=judging: of.contest({"4": folders}, REFERENCE, 0.01, ends_at),
        }
        ends_at = clock.now_s + draw.choice((1.0, 5.0, 30.0))
        with suppress(TimeoutError, KoptError):
            asked[what](ends_at)
        late_s.append(clock.now_s - ends_at)
        judging.close()
    assert max(late_s) <= 2.0 + 1e-6, max(late_s)
