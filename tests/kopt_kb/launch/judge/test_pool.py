"""Claims about several devices behind one judge: pinning, one product, what decides, and kills of real children."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.judging import JudgeDevice
from kopt_kb.launch.judge.pool import DevicePool, pinned, visible
from kopt_kb.launch.judge.ranking import Ranking

Records = Callable[..., Path]
REFERENCE = Path("reference.py")


@pytest.mark.core
@pytest.mark.parametrize(
    ("seen", "device", "name"),
    [(None, "1", "1"), ("2,3", "1", "3"), ("GPU-a,GPU-b", "0", "GPU-a"), ("2,3", "GPU-x", "GPU-x")],
)
def test_devices_are_counted_as_this_process_sees_them(
    monkeypatch: pytest.MonkeyPatch, seen: str | None, device: str, name: str
) -> None:
    """A scheduler that showed devices 2 and 3 means them."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if seen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    assert visible(device) == name


@pytest.mark.core
def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is started."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with pytest.raises(BadInput, match="not visible"):
        pinned("1")


@pytest.mark.core
def test_children_see_their_device_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge and reference, whatever the environment says."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5")
    given: list[Any] = []
    monkeypatch.setattr("kopt_kb.launch.judge.pool.ProcessChannel", lambda _, what, more: given.append((what, more)))
    made = pinned("1")
    assert made.env == {"CUDA_VISIBLE_DEVICES": visible("1")}
    made.judge()
    made.reference()
    assert [what for what, _ in given] == ["judge on device 1", "reference on device 1"]
    assert {more["CUDA_VISIBLE_DEVICES"] for _, more in given} == {"5"}


class Named:
    """A judge that only says what it is."""

    faults = 0

    def __init__(self, name: str, uuid: str) -> None:
        self.found, self.closed = JudgeDevice(name, uuid, "13"), False

    def machine(self, *_: float) -> JudgeDevice:
        return self.found

    def close(self) -> None:
        self.closed = True


@pytest.mark.core
def test_helpers_are_other_devices_of_the_same_product() -> None:
    """Else their ratios rank nothing."""
    first: Any = Named("H", "1")
    for other, words in ((Named("X", "2"), "rank nothing"), (Named("H", "1"), "they are 1")):
        helper: Any = other
        with pytest.raises(BadInput, match=words):
            DevicePool(first, [helper]).machine()
    last: Any = Named("H", "2")
    pool = DevicePool(first, [last])
    assert pool.machine() == first.found
    pool.close()
    assert first.closed and last.closed


@pytest.fixture
def devices(fake: ModuleType, tmp_path: Path) -> Any:
    """Two judges, each with a judge process and a reference process of its own, on a clock of its own."""
    made = [DeviceJudging(fake.programs(tmp_path / f"clock-{number}")) for number in range(2)]
    yield made
    for one in made:
        one.close()


def test_killed_children_lose_nothing(devices: list[DeviceJudging], record: Records) -> None:
    """Judges are killed while they time; each record is answered once, in the order of its time."""
    folders = {str(us): record(f"plusone__us{us}") for us in range(10, 34, 2)}
    incumbent = record("plusone__us40")
    ends_at = time.monotonic() + 60
    found, killed = {}, 0
    with Ranking(devices, incumbent, REFERENCE, (4, 4), ends_at) as ranking:
        for name, folder in folders.items():
            ranking.submit(name.encode(), folder)
            kills = name in {"16", "22"}
            if kills:
                victim = devices[killed]
                while not victim.pid:
                    time.sleep(0.01)
                os.kill(victim.pid, signal.SIGKILL)
                killed += 1
            for one in ranking.ready(0 if kills else 2):  # two kills under one record would be the record's fault
                assert one.key not in found
                found[one.key] = one
        for one in ranking.ready(0):
            assert one.key not in found
            found[one.key] = one
    assert {one.problem for one in found.values()} == {""}
    assert sorted(found, key=lambda key: found[key].time_s) == [name.encode() for name in folders]
    assert sum(one.faults for one in devices) == killed == 2


def test_what_decides_is_the_first_device(devices: list[DeviceJudging], record: Records) -> None:
    """Checks, times and contests; the other one is not asked."""
    pool = DevicePool(devices[0], devices[1:])
    assert pool.check(record("plusone__us10"), REFERENCE, 1, math.inf).problem == ""
    assert len(pool.time([record("plusone__us10")], REFERENCE, 3, math.inf)[0].times_s) == 3
    assert pool.pid == devices[0].pid > 0
    assert devices[1].pid == 0
