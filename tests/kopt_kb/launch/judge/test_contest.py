"""Contests on simulated devices: what is accepted, what is not, and what ends a contest."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.judge.contest import contest

Records = Callable[..., Path]


def _between(lab: Any, record: Records, old: str, new: str, **more: Any) -> Any:
    judges = lab.judges()
    try:
        return contest(judges, {"4": record(old)}, {"4": record(new)}, **more)
    finally:
        judges.end()


def test_a_faster_kernel_is_accepted(lab: Any, record: Records) -> None:
    """3 % faster, shown by events and by the host's clock; the document reads back."""
    result = _between(lab, record, "plusone__us100", "plusone__us97")
    assert result.verdict == "accepted", result.reason
    assert result.ratio == pytest.approx(0.97, abs=0.004)
    (shape,) = result.shapes
    assert shape.incumbent_s == pytest.approx(100e-6, rel=0.01)
    assert (shape.travel, shape.chain) == ("ipc", 0)
    assert result.host[0].agrees
    assert result.host[0].host == pytest.approx(-0.03, abs=0.01)
    assert result.clock.highest_hz == pytest.approx(1.7e9, rel=0.01)
    assert read(type(result), parse(canonical(result.to_json()))) == result


@pytest.mark.parametrize(
    ("new", "outcome"), [("us100", "not_faster"), ("us103", "not_faster"), ("us99_9", "not_faster")]
)
def test_equal_and_slower_kernels_are_not(lab: Any, record: Records, new: str, outcome: str) -> None:
    """Nor one that gains a tenth of a percent."""
    assert _between(lab, record, "plusone__us100", f"plusone__{new}").verdict == outcome


@pytest.mark.parametrize(
    ("new", "verdict", "words"),
    [
        ("wrong__us50", "wrong", "candidate: differs from the reference"),
        ("nothing__us50", "wrong", "candidate: differs"),
        ("remembers__us50", "wrong", "candidate: differs"),
        ("seldom__us50", "wrong", "candidate: differs"),
        ("beyond__us50", "wrong", "bytes behind out were written"),
        ("changes__us50", "wrong", "input x was changed"),
        ("fault__us50", "fault", "ILLEGAL_ADDRESS"),
        ("dies__us50", "fault", "candidate: ended"),
        ("refused__us50", "fault", "INVALID_IMAGE"),
    ],
)
@pytest.mark.parametrize("travel", ["ipc", "files"])
def test_what_ends_a_contest(lab: Any, record: Records, new: str, verdict: str, words: str, travel: str) -> None:
    """However contents travel: the candidate is wrong, touches what it may not, faults, or is no code."""
    lab.device = {"ipc": travel == "ipc"}
    result = _between(lab, record, "plusone__us100", new)
    assert (result.verdict, result.trust) == (verdict, "replayed")
    assert words in result.reason


@pytest.mark.parametrize("old", ["wrong__us100", "fault__us100"])
def test_an_incumbent_at_fault_makes_a_contest_unavailable(lab: Any, record: Records, old: str) -> None:
    """Nothing is said about the candidate."""
    result = _between(lab, record, old, "plusone__us50")
    assert result.verdict == "unavailable"
    assert result.reason.startswith("incumbent: ")


def test_after_a_fault_the_device_is_checked(lab: Any, record: Records) -> None:
    """A fresh child has to reproduce the time of known work; where it does, the next contest runs."""
    judges = lab.judges()
    old = {"4": record("plusone__us100")}
    assert contest(judges, old, {"4": record("fault__us50")}).verdict == "fault"
    assert len(judges.faults) == 1 and "candidate" in judges.faults[0]
    assert contest(judges, old, {"4": record("plusone__us90")}).verdict == "accepted"
    assert len(lab.started) == 3
    assert contest(judges, old, {"4": record("fault__us50")}).verdict == "fault"
    lab.world.steps = ((0.0, 1.5),)
    result = contest(judges, old, {"4": record("plusone__us90")})
    assert result.verdict in {"fault", "unavailable"}
    assert "known work takes" in result.reason


def test_windows_of_a_child_that_died_are_let_go(lab: Any, record: Records) -> None:
    """The reference may no longer close them: the kernel is at fault all the same, and not the reference."""
    answer = lab.reference.answer

    def torn(question: Any) -> Any:
        said = answer(question)
        return type(said)("cuIpcCloseMemHandle: CUDA_ERROR") if question.message == "close" else said

    lab.reference.answer = torn
    result = _between(lab, record, "plusone__us100", "fault__us90")
    assert result.verdict == "fault"


def test_contents_by_file_where_memory_is_not_shared(lab: Any, record: Records) -> None:
    """The same verdict; said in the result."""
    lab.device = {"ipc": False}
    result = _between(lab, record, "plusone__us100", "plusone__us95")
    assert result.verdict == "accepted", result.reason
    assert result.shapes[0].travel == "files"


def test_without_the_judges_own_kernels(lab: Any, record: Records) -> None:
    """No clock probe and no masks: files, and no quad is dropped for its clock."""
    lab.device = {"probe": False}
    result = _between(lab, record, "plusone__us100", "plusone__us95")
    assert result.verdict == "accepted"
    assert (result.shapes[0].travel, result.clock.highest_hz, result.dropped) == ("files", 0.0, 0)


def test_a_short_kernel_is_a_chain(lab: Any, record: Records) -> None:
    """At least 50 µs of launches on buffers of their own, less as many of nothing."""
    result = _between(lab, record, "plusone__us5", "plusone__us4")
    (shape,) = result.shapes
    assert result.verdict == "accepted", result.reason
    assert shape.chain >= 50 / 4
    assert shape.empty_s == pytest.approx(1e-6, rel=0.05)
    assert shape.incumbent_s == pytest.approx(4e-6, rel=0.02)


def test_forged_events_do_not_win(lab: Any, record: Records) -> None:
    """A candidate whose events say half the time: the chain that is timed on the host tells."""
    judge = lab._judge

    def forging() -> Any:
        made = judge()
        lab.started[-1].forged = 0.5 if len(lab.started) == 2 else 1.0
        return made

    lab._judge = forging
    result = _between(lab, record, "plusone__us100", "plusone__us100")
    assert result.verdict == "unavailable"
    assert "timed on the host disagree" in result.reason or "disagree with the host's clock" in result.reason
    assert result.ratio < 0.6


def test_events_that_claim_more_than_passed_are_refused(lab: Any, record: Records) -> None:
    """The incumbent's events say a thousand times too much: no quad counts."""
    judge = lab._judge

    def forging() -> Any:
        made = judge()
        lab.started[-1].forged = 1000.0
        return made

    lab._judge = forging
    result = _between(lab, record, "plusone__us100", "plusone__us50")
    assert result.verdict == "unavailable"
    assert "disagree with the host's clock" in result.reason
    assert result.quads == 0 < result.refused


def test_a_hot_device_spoils_quads(lab: Any, record: Records) -> None:
    """Thermal slowdown: dropped, and above 30 % unavailable; a power cap is only noted."""
    lab.world.throttle = ("power cap",)
    result = _between(lab, record, "plusone__us100", "plusone__us50")
    assert result.verdict == "accepted"
    assert result.clock.throttle == ("power cap",)
    lab.world.throttle = ("hardware thermal",)
    result = _between(lab, record, "plusone__us100", "plusone__us50")
    assert result.verdict == "unavailable"
    assert "spoiled by the clock" in result.reason


def test_a_kernel_that_draws_more_power_still_wins_by_far(lab: Any, record: Records) -> None:
    """A clock that is 5 % lower whenever the candidate runs: 20 times as fast is found, 10 % as fast is not said."""
    lab.world.sag = {"plusone__us5000": 0.05, "plusone__us90": 0.05}
    result = _between(lab, record, "plusone__us100000", "plusone__us5000")
    assert (result.verdict, result.dropped) == ("accepted", 0), result.reason
    assert 0 > math.log(result.ratio) > math.log(5 / 100) + 0.05, "the candidate's gain counts less the clocks"
    close = _between(lab, record, "plusone__us100", "plusone__us90")
    assert close.verdict == "unavailable"
    assert "spoiled by the clock" in close.reason


def test_drift_and_clock_steps(lab: Any, record: Records) -> None:
    """A clock that falls by a tenth and drifts all along: still accepted, equal kernels still not."""
    lab.world = lab.fake.World(noise=0.005, drift=0.5, steps=((0.02, 1.1), (0.05, 0.92), (0.11, 1.06)))
    result = _between(lab, record, "plusone__us100", "plusone__us97")
    assert result.verdict == "accepted", result.reason
    assert _between(lab, record, "plusone__us100", "plusone__us100").verdict == "not_faster"


def test_the_place_of_a_buffer_wins_nothing(lab: Any, record: Records) -> None:
    """Places that move a kernel by a percent are noise over many of them: equal kernels stay equal, and 10 % is found."""
    lab.world.placement = 0.01
    same = [contest(lab.judges(), {"4": record("plusone__us100")}, {"4": record("plusone__us100")}) for _ in range(4)]
    assert [one.verdict for one in same] == ["not_faster"] * 4
    found = contest(lab.judges(), {"4": record("plusone__us100")}, {"4": record("plusone__us90")})
    assert found.verdict == "accepted"


def test_several_shapes_are_one_decision(lab: Any, record: Records) -> None:
    """One shape gains 4 %, the other loses 1 %: the geometric mean gains; each shape's mean is kept."""
    old = {"4": record("plusone__us100"), "8": record("plusone__us50", 40, shape=(8,))}
    new = {"4": record("plusone__us96"), "8": record("plusone__us50_5", 40, shape=(8,))}
    judges = lab.judges()
    result = contest(judges, old, new)
    assert result.verdict == "accepted", result.reason
    first, second = result.shapes
    assert first.log_ratio == pytest.approx(-0.041, abs=0.005)
    assert second.log_ratio == pytest.approx(0.01, abs=0.005)
    assert [one.shape for one in result.host] == ["4", "8"]
    assert not lab.started[0].loaded, "code objects stay loaded"
    assert len(lab.started[0].memory) == 2, "only the flush buffer and the probe's memory are kept"


def test_the_policy_says_what_counts_as_faster(lab: Any, record: Records) -> None:
    """A gain of 3 % is none where 5 % are asked for, or where a kernel gains as much over itself."""
    assert _between(lab, record, "plusone__us100", "plusone__us97", least_gain=0.05).verdict == "not_faster"
    assert _between(lab, record, "plusone__us100", "plusone__us97", floor=0.05).verdict == "not_faster"


def test_what_is_no_contest(lab: Any, record: Records) -> None:
    """Other shapes, other problems, no op; a reference that fails is nobody's fault."""
    judges, one = lab.judges(), record("plusone__us100")
    for old, new in (({}, {}), ({"4": one}, {"8": one}), ({"4": one}, {"4": record("plusone__us9", shape=(8,))}),
                     ({"4": one}, {"4": record("plusone__us9", op="")})):  # fmt: skip
        with pytest.raises(BadInput):
            contest(judges, old, new)
    judges._file = Path("failing.py")
    with pytest.raises(FindingError, match="the reference file fails"):
        contest(judges, {"4": one}, {"4": one})
