"""What launchers of other libraries do besides launching, and a training step: all of it is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.wire import parse, read
from kopt_kb.launch.record.bounds import check_record
from kopt_kb.launch.record.model import LaunchRecord, TensorAddress
from kopt_kb.launch.record.request import CallRequest, MakerRequest, ScriptRequest, TensorArgument
from kopt_kb.launch.record.statics import STATICS, Statics

pytestmark = [pytest.mark.torch, pytest.mark.triton]

DATA = Path(__file__).resolve().parents[3] / "data"
ROW = TensorArgument((1024,), "fp32")
CALLS = {
    "by_tables": {"x": ROW, "y": ROW},  # the first: it imports the module, whose tensors belong to its trace
    "into_another": {"x": ROW, "out": ROW},
    "lists": {"xs": ((ROW,), (ROW,)), "how": (None, "sum", 0.5)},
    "real_parts": {"x": TensorArgument((1024,), "complex64")},
    "scales": {"x": TensorArgument((512,), "fp4x2"), "s": TensorArgument((64,), "e8m0")},
    **{
        name: {"x": ROW, "y": ROW}
        for name in ("zeroes", "by_custom_op", "by_library", "asks", "on_streams", "pinned", "by_module")
    },
}
LAUNCHED = {"by_custom_op": 2, "by_module": 3, "by_tables": 3, "on_streams": 2, "scales": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where code objects of all records go, and what is told of the last."""
    return tmp_path_factory.mktemp("m")


@pytest.fixture(scope="module")
def records(answers, folder) -> dict[str, LaunchRecord]:
    """Name of the launcher, and `train` → its record, made in one process."""
    asked = [(name, CallRequest(f"{DATA / 'foreign_launchers.py'}:{name}", given)) for name, given in CALLS.items()]
    asked.append(("train", ScriptRequest(("train_step.py",), str(DATA), calls=True)))
    made = answers(
        [MakerRequest(what, "sm_90", "Test", {}, str(folder), statics=name == "train") for name, what in asked]
    )
    found = {}
    for (name, _), one in zip(asked, made, strict=True):
        assert one.record is not None, (name, one.refusal)
        check_record(one.record, name)
        found[name] = one.record
    return found


@pytest.mark.parametrize("name", CALLS)
def test_all_launches_of_a_call_are_recorded(records, name) -> None:
    """Behind operators, streams, graphs and modules as well."""
    assert [one.entry for one in records[name].launches] == ["add_all"] * LAUNCHED.get(name, 1)


def test_a_result_has_a_name_of_its_own(records) -> None:
    """Where an argument is called `out`, the result is the next one."""
    roles = {one.name: one.role for one in records["into_another"].buffers}
    assert roles == {"x": "input", "out": "input", "out1": "output"}


def test_an_argument_that_is_filled_is_a_result(records) -> None:
    """A replay may change it, and it is compared."""
    record = records["zeroes"]
    assert [one.buffer for one in record.outputs] == ["out", "x"]
    assert next(one for one in record.buffers if one.name == "x").changed


def test_what_an_import_leaves_on_the_device_is_nothing_to_replay(records) -> None:
    """Nobody knows its contents at a replay, and the record says so."""
    assert "is computed by the import of a module" in records["by_tables"].not_replayable
    assert not records["asks"].not_replayable


def test_a_training_step_is_recorded_to_its_end(records) -> None:
    """Forward and backward launches: the backward's adds one tensor to itself, which is another launch."""
    record = records["train"]
    assert "recorded up to" not in record.not_replayable
    shared = [
        len({arg.view.buffer for arg in one.arguments if isinstance(arg, TensorAddress)}) for one in record.launches
    ]
    assert sorted(set(shared)) == [2, 3]


def test_a_programs_launches_come_with_the_call_that_made_them(records, folder) -> None:
    """The innermost function of tensors at the top of a file, with what it was called with; the file imported too."""
    told = read(Statics, parse((folder / STATICS).read_bytes(), where=STATICS), where=STATICS)
    assert records["train"].launches
    assert {one.file for one in told.launches} == {str(DATA / "foreign_launchers.py")}
    assert {one.call for one in told.launches} >= {"add(x=fp32[2,32,64], y=fp32[2,32,64])"}
    assert sum(one.times for one in told.launches) == 8
