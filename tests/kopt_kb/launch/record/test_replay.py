"""A replay on a device in memory: poison, guard zones, fills, copies, arguments, what was touched."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.model import (
    VERSION,
    Buffer,
    Copy,
    Fill,
    Input,
    Launch,
    LaunchRecord,
    NullArg,
    ScalarArg,
    StructArg,
    TensorAddress,
    TensorMapArg,
    TensorView,
)
from kopt_kb.launch.record.own_memory import OwnPlace
from kopt_kb.launch.record.replay import GUARD_BYTES, Replay

CODE = "0" * 64


def _view(name: str, count: int = 4, offset: int = 0) -> TensorView:
    return TensorView(name, offset, (count,), (1,), "u8")


def _record(*steps: Any, more: tuple[Buffer, ...] = ()) -> LaunchRecord:
    buffers = (Buffer("x", "input", 4, 256, False), Buffer("out", "output", 4, 256, True), *more)
    return LaunchRecord(
        v=VERSION, label="test", op="", shape=(), dtype="", target="sm_90", buffers=buffers, inputs=(Input("x", _view("x")),),
        outputs=(_view("out"),), steps=steps, codes={CODE: 1},
    )  # fmt: skip


def _launch(*arguments: Any) -> Launch:
    return Launch(CODE, "kernel", (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, arguments)


BOTH = _launch(TensorAddress(_view("x")), TensorAddress(_view("out")))


def _add_one(device: Any, _: Launch, values: list[Any]) -> None:
    device.write(values[1], bytes(one + 1 for one in device.read(values[0], 4)))


def test_own_memory_of_a_code_object_is_put_back(device: Any) -> None:
    """Zeros and what a table held; a kernel that writes the judge's copy of it is found out."""
    used = device()
    counter, table = used.allocate(4), used.allocate(2)
    used.write(table, b"ab")
    used.own = (OwnPlace(counter, bytes(4)), OwnPlace(table, b"ab"))
    seen: list[bytes] = []

    spoils: list[int] = []

    def keeps(memory: Any, step: Launch, values: list[Any]) -> None:
        seen.append(memory.read(counter, 4) + memory.read(table, 2))
        memory.write(counter, b"\1\0\0\0")
        memory.write(table, b"xy")
        for place in spoils:
            memory.write(place, b"zz")
        _add_one(memory, step, values)

    used.kernels["kernel"] = keeps
    with Replay(_record(BOTH), lambda _: b"", used) as replay:
        for _ in range(3):
            assert not replay.run({"x": b"\1\2\3\4"}).touched
        spoils += [base for base, held in used.memory.items() if bytes(held) == b"ab" and base != table]
        touched = replay.run({"x": b"\1\2\3\4"}).touched
        spoils.clear()
        assert not replay.run({"x": b"\1\2\3\4"}).touched
    assert seen == [b"\0\0\0\0ab"] * 5
    assert touched == ("the judge's copy of a code object's own memory was written",)
    assert set(used.memory) == {counter, table}


def test_a_copy_between_layouts_and_types(device: Any) -> None:
    """Transposed on the way, and from bytes to 16-bit floats."""
    x = TensorView("x", 0, (2, 2), (1, 2), "u8")
    out = TensorView("out", 0, (2, 2), (2, 1), "bf16")
    record = replace(
        _record(Copy(x, out)),
        buffers=(Buffer("x", "input", 4, 256, False), Buffer("out", "output", 8, 256, True)), outputs=(out,),
    )  # fmt: skip
    with Replay(record, lambda _: b"", device()) as replay:
        left = replay.run({"x": bytes([1, 2, 3, 4])})
    assert left.outputs == (bytes.fromhex("803f404000408040"),)
    assert not left.touched


def test_outputs_and_nothing_touched(device: Any) -> None:
    """The kernel reads the input and writes the output; the memory is given back."""
    used = device(kernel=_add_one)
    with Replay(_record(BOTH), lambda _: b"", used) as replay:
        left = replay.run({"x": b"\1\2\3\4"})
        assert replay.run({"x": b"\5\6\7\x08"}).outputs == (b"\6\7\x08\t",)
    assert left.outputs == (b"\2\3\4\5",)
    assert left.touched == ()
    assert not used.memory


def test_what_is_never_written_is_poison(device: Any) -> None:
    """0xff in every byte is NaN in every floating type; a run before does not leave its output behind."""
    wrote = iter([True, False])
    used = device(kernel=lambda d, s, v: _add_one(d, s, v) if next(wrote) else None)
    with Replay(_record(BOTH), lambda _: b"", used) as replay:
        replay.run({"x": b"\1\2\3\4"})
        assert replay.run({"x": b"\1\2\3\4"}).outputs == (b"\xff" * 4,)


@pytest.mark.parametrize(
    ("offset", "fault"),
    [(-1, "bytes before out were written"), (4, "bytes behind out were written"), (GUARD_BYTES, "bytes behind out")],
)
def test_guard_zones(device: Any, offset: int, fault: str) -> None:
    """One byte before the first or right behind the last element is found."""
    used = device(kernel=lambda d, _, v: d.write(v[1] + offset, bytes([d.read(v[1] + offset, 1)[0] ^ 1])))
    with Replay(_record(BOTH), lambda _: b"", used) as replay:
        assert any(one.startswith(fault) for one in replay.run({"x": bytes(4)}).touched)


def test_buffers_move(device: Any) -> None:
    """Each move has other places, inside the memory and apart by their guard zones, at what they are aligned to."""
    large = Buffer("big", "scratch", 300_000, 1 << 17, True)
    used = device(kernel=_add_one)
    places = set()
    with Replay(_record(BOTH, more=(large,)), lambda _: b"", used) as replay:
        ((base, memory),) = used.memory.items()
        for _ in range(50):
            replay.move()
            assert replay.run({"x": b"\1\2\3\4"}).touched == ()
            at = {name: replay.place(name) for name in ("x", "out", "big")}
            ends = sorted((at[one.name] - GUARD_BYTES, at[one.name] + one.size_bytes + GUARD_BYTES)
                          for one in (*_record().buffers, large))  # fmt: skip
            assert base <= ends[0][0] and ends[-1][1] <= base + len(memory)
            assert all(one[1] <= two[0] for one, two in pairwise(ends))
            assert (at["big"] - base) % (1 << 17) == -base % (1 << 17)
            places.add(tuple(at.values()))
        assert used.launched[-1][1] == [at["x"], at["out"]]
    assert len(places) > 45
    assert used.loaded == 1, "a move loads nothing"


def test_inputs_may_not_change(device: Any) -> None:
    """Unless the record says that they may."""
    used = device(kernel=lambda d, _, v: d.write(v[0], b"\x63"))
    with Replay(_record(BOTH), lambda _: b"", used) as replay:
        assert replay.run({"x": bytes(4)}).touched == ("input x was changed",)
    free = _record(BOTH)
    free = replace(free, buffers=(replace(free.buffers[0], changed=True), *free.buffers[1:]))
    with Replay(free, lambda _: b"", used) as replay:
        assert replay.run({"x": bytes(4)}).touched == ()


def test_zeroed_scratch_has_to_be_zero_again(device: Any) -> None:
    """Locks of a split-K kernel: zero before, and what is left in them is a fault."""
    lock = Buffer("lock", "zeroed", 4, 256, True)
    seen = []
    used = device(kernel=lambda d, _, v: (seen.append(d.read(v[2], 4)), d.write(v[2], b"\1")))
    step = _launch(TensorAddress(_view("x")), TensorAddress(_view("out")), TensorAddress(_view("lock")))
    with Replay(_record(step, more=(lock,)), lambda _: b"", used) as replay:
        assert "lock is not zero" in replay.run({"x": bytes(4)}).touched[0]
    assert seen == [bytes(4)]


def test_fills_and_copies(device: Any) -> None:
    """A fill of two of four bytes, and a copy of the input, in order."""
    steps = (Fill(_view("out", 2, 2), "07"), Copy(_view("x", 2), _view("out", 2)))
    with Replay(_record(*steps), lambda _: b"", device()) as replay:
        assert replay.run({"x": b"\1\2\3\4"}).outputs == (b"\1\2\7\7",)


def test_arguments(device: Any) -> None:
    """Offsets count in elements; null is address 0; half-width floats are their bits; words are floats; maps are encoded."""
    used = device(kernel=lambda *_: None)
    box = TensorMapArg(_view("x"), (4,), 0, 0)
    step = _launch(
        TensorAddress(_view("x", 2, 1)),
        NullArg(),
        ScalarArg("bf16", 1.0),
        ScalarArg("fp16", 1.0),
        ScalarArg("fp32", "inf"),
        box,
    )
    with Replay(_record(step), lambda _: b"", used) as replay:
        replay.run({"x": bytes(4)})
        ((_, values),) = used.launched
        place = replay.place("x")
    assert values[0] == place + 1
    assert values[1:5] == [0, 0x3F80, 0x3C00, float("inf")]
    assert values[5] == ("map", place, (4,))


@pytest.mark.parametrize("given", [{}, {"x": bytes(3)}])
def test_inputs_of_another_size_are_refused(device: Any, given: dict[str, bytes]) -> None:
    """A record is for the arguments that it was made for."""
    with (
        Replay(_record(BOTH), lambda _: b"", device(kernel=_add_one)) as replay,
        pytest.raises(BadInput, match="input x"),
    ):
        replay.run(given)


def test_a_struct_travels_by_value(device: Any) -> None:
    """Numbers at their widths, addresses of this place of the buffers, zeros between."""
    seen: list[bytes] = []

    def keeps(memory: Any, step: Launch, values: list[Any]) -> None:
        seen.append(bytes(values[0]))
        _add_one(memory, step, [int.from_bytes(seen[-1][8:16], "little"), values[1]])

    given = StructArg.laid_out((ScalarArg("i32", -2), TensorAddress(_view("x")), ScalarArg("bf16", 1.0), NullArg()))
    used = device(kernel=keeps)
    with Replay(_record(_launch(given, TensorAddress(_view("out")))), lambda _: b"", used) as replay:
        for _ in range(2):
            left = replay.run({"x": b"\1\2\3\4"})
            assert (left.outputs, left.touched) == ((b"\2\3\4\5",), ())
            x = replay.place("x").to_bytes(8, "little")
            assert seen[-1] == b"\xfe\xff\xff\xff" + bytes(4) + x + b"\x80\x3f" + bytes(6) + bytes(8)
            replay.move()
