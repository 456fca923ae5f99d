"""The warm judge's questions and answers, and the program around it."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.record.model import VERSION, Buffer, Input, Launch, LaunchRecord, TensorAddress, TensorView
from kopt_kb.launch.record.service import (
    Greeting,
    HostChain,
    HostTime,
    Load,
    Loaded,
    Server,
    Take,
    Taken,
    TimeKnown,
    Unload,
    serve,
)


def _reading(folder: Path) -> Any:
    x, out = (TensorView(name, 0, (4,), (1,), "u8") for name in ("x", "out"))
    step = Launch("0" * 64, folder.name, (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, (TensorAddress(x), TensorAddress(out)))
    record = LaunchRecord(
        v=VERSION, label="l", op="", shape=(), dtype="", target="sm_90",
        buffers=(Buffer("x", "input", 4, 256, False), Buffer("out", "output", 4, 256, True)),
        inputs=(Input("x", x),), outputs=(out,), steps=(step,), codes={},
    )  # fmt: skip
    return record, lambda _: b""


@pytest.fixture
def server(fake: ModuleType) -> Server:
    """On a fake device; a record's folder is named by the entry it launches."""
    return Server(fake.FakeDriver(), _reading)


def _load(entry: str, tmp_path: Path, key: str = "k", slots: int = 2) -> Load:
    return Load(key, f"/records/{entry}", slots, str(tmp_path))


def test_a_record_from_load_to_unload(server: Server, fake: ModuleType, tmp_path: Path) -> None:
    """Slots are offered, a turn answers, the host's chain too; then nothing is left."""
    loaded = server.answer(_load("plusone__us10", tmp_path))
    assert isinstance(loaded, Loaded) and loaded.travel == "ipc" and len(loaded.slots) == 2
    for number in (0, 1):
        fake._put(loaded.slots[number].inputs[0], bytes(4))
    taken = server.answer(Take("k", (0, 1), (0, 1)))
    assert isinstance(taken, Taken) and taken.turn is not None and len(taken.turn.times_s) == 2
    assert fake._get(loaded.slots[1].outputs[0]) == b"\1\1\1\1"
    chain = server.answer(HostChain("k", 2))
    assert isinstance(chain, HostTime) and chain.host_s > 0 and chain.launches == 16
    assert server.answer(Unload("k")) == Loaded()
    assert server.answer(Unload("k")) == Loaded()
    assert server.answer(Take("k", (0,), ())).error == "nothing is loaded as 'k' [KB440]"  # type: ignore[attr-defined]


def test_two_records_and_code_objects(server: Server, tmp_path: Path) -> None:
    """Code objects are unloaded with the last record; a key is used once."""
    driver: Any = server._driver
    server.answer(_load("plusone__us10", tmp_path))
    assert "loaded already" in server.answer(_load("plusone__us10", tmp_path)).error  # type: ignore[attr-defined]
    server.answer(_load("wrong__us10", tmp_path, "j"))
    server.answer(Unload("k"))
    assert driver.loaded
    server.answer(Unload("j"))
    assert not driver.loaded


def test_refusals_are_answers_and_faults_are_fatal(server: Server, tmp_path: Path) -> None:
    """A code object that can't be loaded does not end the judge; a lost context does."""
    refused = server.answer(_load("refused__us10", tmp_path))
    assert isinstance(refused, Loaded) and "INVALID_IMAGE" in refused.error and not refused.fatal
    server.answer(_load("fault__us10", tmp_path))
    taken = server.answer(Take("k", (0,), (0,)))
    assert isinstance(taken, Taken) and taken.fatal and "ILLEGAL_ADDRESS" in taken.error


def test_known_work(server: Server) -> None:
    """As often as asked, within bounds."""
    taken = server.answer(TimeKnown(3))
    assert isinstance(taken, Taken) and taken.turn is not None and len(taken.turn.times_s) == 3
    none = server.answer(TimeKnown(-5))
    assert isinstance(none, Taken) and none.turn is not None and len(none.turn.times_s) == 1


def test_lines(server: Server, tmp_path: Path) -> None:
    """The device first; nonsense is answered; a fault ends the conversation."""
    lines = [b"nonsense", b'{"message":"load"}', b"[]", canonical(TimeKnown(1).to_json()),
             canonical(_load("fault__us10", tmp_path).to_json()), canonical(Take("k", (0,), (0,)).to_json()),
             canonical(TimeKnown(1).to_json())]  # fmt: skip
    said = io.BytesIO()
    serve(server, io.BytesIO(b"\n".join(lines) + b"\n"), said)
    greeting, *answers = said.getvalue().splitlines()
    assert read(Greeting, parse(greeting)).device == server.device
    assert len(answers) == 6
    assert all(read(Taken, parse(one)).error for one in answers[:3])
    assert read(Taken, parse(answers[3])).turn is not None
    assert read(Taken, parse(answers[5])).fatal
