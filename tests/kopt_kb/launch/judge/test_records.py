"""Records made in a child and stored; what a maker may get wrong is refused; replays need a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.base.wire import canonical, parse
from kopt_kb.launch.judge import records
from kopt_kb.launch.judge.records import packaged_reference, replay_record
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from tests.kopt_kb.launch.judge.conftest import Lab
from tests.kopt_kb.launch.small_record import CODE, DIGEST, small_record

LAUNCHERS = Path(__file__).resolve().parents[4] / "tests" / "data" / "launchers.py"
Records = Callable[..., Path]
REQUEST = MakerRequest(OpRequest(str(LAUNCHERS), (4,), "bf16"), "sm_90", "Test", {}, "")


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


@pytest.mark.skipif(Path("/proc/driver/nvidia/version").is_file(), reason="there is a GPU")
def test_a_replay_without_a_gpu_is_missing_and_never_a_pass(record: Records) -> None:
    """Exit 3 and not 0."""
    with pytest.raises(MissingTool):
        replay_record(record("plusone__us10"), LAUNCHERS, checks=1)


@pytest.fixture
def lab(fake: ModuleType, tmp_path: Path) -> Lab:
    """Judges on simulated devices."""
    (tmp_path / "contents").mkdir()
    return Lab(fake, tmp_path / "contents")


def test_a_right_record(lab: Lab, record: Records, fits: Any) -> None:
    """Every trial of the operation, then inputs as drawn; each with its seed."""
    found = replay_record(record("plusone__us10"), Path("reference.py"), checks=2, starting=lab.starting())
    assert (found.passed, found.problem, found.rel_l2_err, found.trust) == (True, "", 0.0, "replayed")
    assert found.checks == len(found.tried) > 2
    assert all(one.passed and not one.problem for one in found.tried)
    data = {"version": "0123456789ab", "date": "2026-11-21"}
    assert fits("verify_record", {**parse(canonical(found.to_json())), "data": data})
    one = replay_record(record("plusone__us10"), Path("r.py"), checks=2, inputs=("random",), starting=lab.starting())
    assert one.checks == 3
    with pytest.raises(BadInput, match="no inputs are called .nonsense."):
        replay_record(record("plusone__us10"), Path("r.py"), inputs=("nonsense",), starting=lab.starting())


@pytest.mark.parametrize(
    ("entry", "words", "tried"),
    [
        ("wrong__us1", "differs", 1), ("beyond__us1", "were written", 1), ("fault__us1", "ILLEGAL_ADDRESS", 1),
        ("dies__us1", "ended", 1), ("refused__us1", "INVALID_IMAGE", 0),
    ],
)  # fmt: skip
def test_a_wrong_record(lab: Lab, record: Records, entry: str, words: str, tried: int) -> None:
    """The first replay that fails is the last; a fault is an answer, and a record that can't be loaded has no replay."""
    found = replay_record(record(entry), Path("reference.py"), checks=2, starting=lab.starting())
    assert not found.passed
    assert words in found.problem
    assert len(found.tried) == tried
    assert all(words in one.problem and not one.passed for one in found.tried)


def test_a_failing_reference_is_nobodys_fault(lab: Lab, record: Records) -> None:
    """Said with its own code."""
    with pytest.raises(FindingError) as caught:
        replay_record(record("plusone__us10"), Path("failing.py"), starting=lab.starting())
    assert caught.value.error_code == "KB453"
