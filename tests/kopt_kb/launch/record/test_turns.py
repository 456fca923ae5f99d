"""Turns: contents in slots, what surrounds a launch, chains; on a simulated device."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.clock import DeviceBench
from kopt_kb.launch.record.model import (
    VERSION,
    Buffer,
    Input,
    Launch,
    LaunchRecord,
    ScalarArg,
    TensorAddress,
    TensorView,
)
from kopt_kb.launch.record.turns import LoadedRecord

CODE = "0" * 64


def _record(entry: str, *, lock: bool = False, changed: bool = False, size: int = 20, steps: int = 1) -> LaunchRecord:
    views = [TensorView(name, 0, (size,), (1,), "u8") for name in ("x", "out", "lock")]
    arguments = tuple(TensorAddress(view) for view in views[: 3 if lock else 2])
    step = Launch(CODE, entry, (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, (*arguments, ScalarArg("i32", 3)))
    buffers = [Buffer("x", "input", size, 256, changed), Buffer("out", "output", size, 256, True)]
    buffers += [Buffer("lock", "zeroed", size, 256, True)] if lock else []
    return LaunchRecord(
        v=VERSION, label=entry, op="", shape=(), dtype="", target="sm_90", buffers=tuple(buffers),
        inputs=(Input("x", views[0]),), outputs=(views[1],), steps=(step,) * steps, codes={CODE: 1},
    )  # fmt: skip


@pytest.fixture
def lab(fake: ModuleType, tmp_path: Path) -> Any:
    """Makes an entry on a device, and puts contents into its slots."""

    class Lab:
        def __init__(self) -> None:
            self.driver = fake.FakeDriver()
            self.bench = DeviceBench(self.driver)

        def device(self, **more: Any) -> None:
            self.driver = fake.FakeDriver(**more)
            self.bench = DeviceBench(self.driver)

        def entry(self, record: LaunchRecord, **more: Any) -> LoadedRecord:
            made: dict[str, Any] = {"slots": 3, "travel": "ipc", "folder": tmp_path, **more}
            return LoadedRecord(record, lambda _: b"", self.bench, **made)

        def put(self, entry: LoadedRecord, number: int, data: bytes) -> None:
            fake._put(entry.slots[number].inputs[0], data)

        def got(self, entry: LoadedRecord, number: int) -> bytes:
            return fake._get(entry.slots[number].outputs[0])  # type: ignore[no-any-return]

    return Lab()


def test_nothing_of_an_earlier_loading_is_left(lab: Any) -> None:
    """Neither in the windows of slots nor between buffers, where a record of the same contents would find answers."""
    answer = b"\x5a" * 20
    fresh, lab.driver.allocate = lab.driver.allocate, lambda size: _dirty(lab.driver, fresh(size), size, answer)
    with lab.entry(_record("plusone__us30")) as entry:
        lab.put(entry, 0, bytes(20))
        entry.seal((0,))
        entry.turn((0,))
        assert all(answer not in bytes(held) for base, held in lab.driver.memory.items() if base > lab.bench.small)
        before = [(base, bytes(held).find(bytes([1] * 20))) for base, held in lab.driver.memory.items()]
        entry._move()
        lab.driver.synchronize()
        arena = entry._sets[0]._arena
        assert dict(before)[arena] >= 0, "the output of a turn lies there"
        assert bytes([1] * 20) not in bytes(lab.driver.memory[arena]), "in another place nothing of it is left"


def _dirty(driver: Any, base: int, size: int, answer: bytes) -> int:
    driver.memory[base][:] = (answer * (size // len(answer) + 1))[:size]
    return base


@pytest.mark.parametrize("travel", ["ipc", "files"])
def test_each_launch_has_its_own_contents(lab: Any, travel: str) -> None:
    """Outputs go to the slots' windows; memory is given back."""
    before = len(lab.driver.memory)
    with lab.entry(_record("plusone__us30"), travel=travel) as entry:
        for number in range(3):
            lab.put(entry, number, bytes([number] * 20))
        entry.seal((0, 1, 2))
        turn = entry.turn((0, 1, 2))
        assert [lab.got(entry, number) for number in range(3)] == [bytes([one + 1] * 20) for one in range(3)]
    assert turn.touched == ()
    assert lab.driver.unpinned == 3, "what a kernel asked the cache to keep is flushed like the rest"
    assert turn.times_s == pytest.approx((30e-6,) * 3, rel=0.1)
    assert turn.clocks_hz == pytest.approx((1.7e9,) * 3, rel=0.01)
    assert all(whole > time for whole, time in zip(turn.whole_s, turn.times_s, strict=True))
    assert turn.host_s == pytest.approx(turn.whole_s, abs=30e-6)
    assert len(lab.driver.memory) == before


def test_contents_rest_under_a_mask(lab: Any, fake: ModuleType) -> None:
    """A kernel that reads all memory of its context finds no contents of a later launch."""
    later = bytes(range(100, 120))
    found: list[bool] = []

    def looks(device: Any, values: list[Any], sizes: list[int]) -> None:
        found.append(any(later in bytes(held) for held in device.memory.values()))
        fake.BEHAVIOURS["plusone"](device, values, sizes)

    fake.BEHAVIOURS["looks"] = looks
    with lab.entry(_record("looks__us10")) as entry:
        lab.put(entry, 0, bytes(20))
        lab.put(entry, 1, later)
        entry.seal((0, 1))
        entry.turn((0, 1))
    assert found == [False, True]


def test_what_is_between_launches_is_poison(lab: Any, fake: ModuleType) -> None:
    """An output that a launch does not write is 0xff again, whatever the launch before left there."""
    calls = iter([True, False])
    fake.BEHAVIOURS["once"] = lambda *given: fake.BEHAVIOURS["plusone"](*given) if next(calls) else None
    with lab.entry(_record("once__us10")) as entry:
        for number in (0, 1):
            lab.put(entry, number, bytes(20))
        entry.seal((0, 1))
        entry.turn((0, 1))
        assert lab.got(entry, 1) == b"\xff" * 20


@pytest.mark.parametrize("travel", ["ipc", "files"])
def test_a_code_object_has_its_own_memory_as_at_first(lab: Any, fake: ModuleType, travel: str) -> None:
    """A kernel that counts launches there, to rest after the second, finds no count but the first."""
    fake.COUNTED.clear()
    with lab.entry(_record("counts__us10"), travel=travel, slots=4) as entry:
        for _ in range(2):
            for number in range(4):
                lab.put(entry, number, bytes([number] * 20))
            entry.seal(range(4))
            entry.turn(range(4))
            assert [lab.got(entry, number)[0] for number in range(4)] == [1, 2, 3, 4]
    assert fake.COUNTED == [0] * 8


@pytest.mark.parametrize("travel", ["ipc", "files"])
@pytest.mark.parametrize(
    ("behaviour", "faults"),
    [
        ("changes", ("input x was changed",)),
        ("beyond", ("bytes behind out were written",)),
        ("locks", ("lock is not zero after the launch, as its next launch needs",)),
    ],
)
def test_faults(lab: Any, fake: ModuleType, travel: str, behaviour: str, faults: tuple[str, ...]) -> None:
    """Of any launch of a turn; a guard zone is made whole again."""
    fake.BEHAVIOURS["locks"] = lambda device, values, _: device.poke(values[2], b"\1")
    with lab.entry(_record(f"{behaviour}__us10", lock=behaviour == "locks"), travel=travel) as entry:
        lab.put(entry, 0, bytes(20))
        entry.seal((0,))
        assert entry.turn((0,)).touched == faults
        lab.put(entry, 0, bytes(20))
        entry.seal((0,))
        assert entry.turn((0,)).touched == faults


def test_an_input_that_may_change(lab: Any) -> None:
    """Is no fault."""
    with lab.entry(_record("changes__us10", changed=True)) as entry:
        lab.put(entry, 0, bytes(20))
        entry.seal((0,))
        assert entry.turn((0,)).touched == ()


def test_a_chain(lab: Any) -> None:
    """One launch on the first contents, then one launch for each of the others, less as many of nothing."""
    with lab.entry(_record("plusone__us5"), slots=9, chain=8) as entry:
        for number in range(9):
            lab.put(entry, number, bytes([number] * 20))
        entry.seal(range(9))
        turn = entry.turn(range(9))
        assert [lab.got(entry, number)[0] for number in range(9)] == list(range(1, 10))
        assert len(turn.times_s) == 2
        assert turn.times_s[1] == pytest.approx(4e-6, rel=0.05)
        assert turn.empty_s == pytest.approx(1e-6)
        seconds, launches = entry.host_chain(3, empty=False)
        assert launches == 24 and seconds > 24 * 4.5e-6
        with pytest.raises(BadInput, match="contents for a chain of 8"):
            entry.turn((0, 1, 2))


def test_a_host_chain(lab: Any) -> None:
    """With and without the steps."""
    with lab.entry(_record("plusone__us50")) as entry:
        full, launches = entry.host_chain(2, empty=False)
        empty, _ = entry.host_chain(2, empty=True)
    assert launches == 16
    assert full - empty == pytest.approx(16 * 50e-6, rel=0.05)


def test_many_steps_do_not_wait_behind_a_hold(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream's queue is finite: the host would wait for itself."""
    held: list[bool] = []
    monkeypatch.setattr(lab.driver, "hold", lambda: held.append(True))
    for steps, count in ((201, 0), (200, 2)):
        with lab.entry(_record("plusone__us1", steps=steps), travel="files") as entry:
            for number in range(3):
                lab.put(entry, number, bytes(20))
            entry.turn((0, 1, 2))
        assert len(held) == count, "the first launch of a record is not held: it may wait for the device itself"


def test_what_a_device_does_not_offer_makes_files(lab: Any) -> None:
    """No IPC, or no masks."""
    for more in ({"ipc": False}, {"probe": False}):
        lab.device(**more)
        assert lab.entry(_record("plusone__us1")).travel == "files"
    with lab.entry(_record("plusone__us30")) as entry:
        lab.put(entry, 0, bytes(20))
        assert entry.turn((0,)).clocks_hz == (0.0,)


@pytest.mark.parametrize("size", [None, 19, 21])
def test_contents_that_are_not_there(lab: Any, tmp_path: Path, size: int | None) -> None:
    """Or of another size."""
    with lab.entry(_record("plusone__us1"), travel="files") as entry:
        if size is not None:
            Path(entry.slots[0].inputs[0].path).write_bytes(bytes(size))
        with pytest.raises(BadInput, match="contents of x"):
            entry.turn((0,))


def test_what_is_no_loading(lab: Any) -> None:
    """Too many slots, more chained than there are slots, inputs that nobody fills, slots that are not there."""
    for more in ({"slots": 81}, {"slots": 4, "chain": 4}, {"slots": 0}):
        with pytest.raises(BadInput, match="slots for a chain"):
            lab.entry(_record("plusone__us1"), **more)
    record = _record("plusone__us1")
    stray = LaunchRecord(**{name: getattr(record, name) for name in LaunchRecord.__slots__} | {"inputs": ()})
    with pytest.raises(BadInput, match="no input of the launcher lies in x"):
        lab.entry(stray)
    with lab.entry(record) as entry, pytest.raises(BadInput, match=r"slots \[3\] of 3"):
        entry.turn((3,))


def test_memory_is_given_back_when_loading_fails(lab: Any) -> None:
    """The code object is refused: nothing of the entry stays."""
    before = len(lab.driver.memory)
    with pytest.raises(Exception, match="INVALID_IMAGE"):
        lab.entry(_record("refused__us1")).__enter__()
    assert len(lab.driver.memory) == before
