"""Records made in a child and stored; what a maker may get wrong is refused; replays need a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput, KoptError, MissingTool
from kopt_kb.kernels.record.model import Buffer, Input, LaunchRecord, View
from kopt_kb.kernels.record.request import OpRequest, Request
from kopt_kb.runners import records
from kopt_kb.runners.records import (
    packaged_reference,
    replay_record,
)
from kopt_kb.wire import canonical
from tests.kopt_kb.runners.small_record import CODE, DIGEST, small_record

LAUNCHERS = Path(__file__).resolve().parents[3] / "tests" / "data" / "launchers.py"
REQUEST = Request(OpRequest(str(LAUNCHERS), (4,), "bf16"), "sm_90", "Test", {}, "")


@pytest.fixture
def stored(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Stores a record without a maker."""

    def store(record: LaunchRecord) -> Path:
        folder = tmp_path / "stored"
        (folder / "objects").mkdir(parents=True)
        (folder / "objects" / DIGEST).write_bytes(CODE)
        (folder / "record.json").write_bytes(canonical(record.to_json()))
        return folder

    return store


def test_what_can_not_be_replayed(stored, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A call has no reference; a record that needs the host says so."""
    folder = stored(small_record(op="", shape=(), dtype=""))
    for check in (lambda: packaged_reference(folder), lambda: replay_record(folder, LAUNCHERS)):
        with pytest.raises(BadInput) as caught:
            check()
        assert caught.value.error_code == "KB451"
    body = json.loads((folder / "record.json").read_text())
    body.update(op="elementwise", not_replayable="out is computed by add")
    (folder / "record.json").write_text(json.dumps(body))
    with pytest.raises(BadInput, match="computed by add"):
        replay_record(folder, LAUNCHERS)
    body["not_replayable"] = ""
    body["outputs"] = [body["inputs"][0]["view"]]
    (folder / "record.json").write_text(json.dumps(body))
    with pytest.raises(BadInput, match="the result lies in the input x"):
        replay_record(folder, LAUNCHERS)
    assert packaged_reference(folder).name == "elementwise.py"
    assert not (tmp_path / "nothing").exists()


def test_a_verified_record_is_what_its_schema_says(fits) -> None:  # type: ignore[no-untyped-def]
    """With a number and without one."""
    for error in (1e-3, None):
        replayed = records.Replayed("r", "norm 4", "replayed", error is not None, "", error, 1)
        data = {"version": "0123456789ab", "date": "2026-11-21"}
        assert fits("verify_record", {**replayed.to_json(), "data": data})
    assert not fits("verify_record", {**replayed.to_json(), "surplus": 1})


@pytest.mark.torch
@pytest.mark.triton
def test_a_replay_without_a_gpu_is_missing_and_never_a_pass(stored) -> None:  # type: ignore[no-untyped-def]
    """Exit 3 and not 0; on a machine with one the invented code object is refused by the driver."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    x = View("x", 0, (4,), (1,), "bf16")
    record = small_record(
        buffers=(*tuple(Buffer(one, "input", 8, 256, False) for one in "xy"), Buffer("out", "output", 8, 256, True)),
        inputs=(Input("x", x), Input("y", View("y", 0, (4,), (1,), "bf16"))), outputs=(View("out", 0, (4,), (1,), "bf16"),),
    )  # fmt: skip
    folder = stored(record)
    if torch.cuda.is_available():
        assert not replay_record(folder, LAUNCHERS, checks=1).passed
    else:
        with pytest.raises(MissingTool):
            replay_record(folder, LAUNCHERS, checks=1)


@pytest.mark.torch
@pytest.mark.triton
def test_a_reference_that_never_answers_is_ended(  # type: ignore[no-untyped-def]
    stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that says so, and not a command that hangs."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\n\n\ndef make_inputs(*_, **__):\n    time.sleep(600)\n")
    monkeypatch.setattr(records, "_REFERENCE_S", 2.0)
    with pytest.raises(KoptError, match="longer than 2 s"):
        replay_record(stored(small_record()), slow, checks=1)
