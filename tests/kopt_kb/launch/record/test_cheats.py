"""Launchers that cheat: what they do outside the launches is named or refused, never lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, read
from kopt_kb.launch.record.bounds import check_record, unfit_result
from kopt_kb.launch.record.request import MakerAnswer, MakerRequest, OpRequest
from kopt_kb.launch.record.serve import READY, MakerJob, Reply

pytestmark = [pytest.mark.torch, pytest.mark.triton]
CHEATS = Path(__file__).resolve().parents[3] / "data" / "cheats.py"
NAMED = {
    "on_cpu": "copy_", "constant": "copy_", "from_numpy": "copy_", "autograd": "add",
    "custom_named_empty": "cheats.empty_like", "custom_named_zero": "cheats.zero_", "packet": "add",
    "view_in_place": "add_", "foreach": "_foreach_add_", "foreign_out": "add", "set_data": "add", "through_fill": "add",
}  # fmt: skip
"""Way → the operation that computes its result."""

SAID = {
    "left_on_cpu": "a result lies on the cpu",
    "address_as_number": "may be an address",
    "kernel_on_cpu": "x_ptr of a launch is no tensor on the device",
}
UNFIT = {"alias": "lies in the input x", "view_of_input": "lies in the input x", "expanded": "share their memory"}
REFUSED = {"by_numpy": "KB448"}


def _request(way: str, folder: Path) -> MakerRequest:
    return MakerRequest(OpRequest(str(CHEATS), (1000,), "bf16", {"HOW": way}), "sm_90", "Test", {}, str(folder))


@pytest.fixture(scope="module")
def tried(answers: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, MakerAnswer]:
    """Way → the maker's answer."""
    ways = [*NAMED, *SAID, *UNFIT, *REFUSED, "compiled_kernel", "dynamo"]
    folder = tmp_path_factory.mktemp("cheats")
    return dict(zip(ways, answers([_request(way, folder) for way in ways]), strict=True))


@pytest.mark.parametrize("way", NAMED)
def test_what_computes_is_named(tried: dict[str, MakerAnswer], way: str) -> None:
    """By the dispatcher: as a host operation, and as the reason why no replay stands for the launcher."""
    record = tried[way].record
    assert record is not None, tried[way].refusal
    check_record(record, way)
    assert NAMED[way] in record.host
    assert f"computed by {NAMED[way]}" in record.not_replayable


@pytest.mark.parametrize("way", SAID)
def test_what_a_replay_can_not_have_is_said(tried: dict[str, MakerAnswer], way: str) -> None:
    """Memory of the host, and addresses as numbers."""
    record = tried[way].record
    assert record is not None, tried[way].refusal
    check_record(record, way)
    assert SAID[way] in record.not_replayable


@pytest.mark.parametrize("way", UNFIT)
def test_results_that_are_no_memory_of_their_own(tried: dict[str, MakerAnswer], way: str) -> None:
    """The judge finds it in the record itself, whatever the maker says."""
    record = tried[way].record
    assert record is not None, tried[way].refusal
    check_record(record, way)
    assert UNFIT[way] in unfit_result(record)


@pytest.mark.parametrize("way", REFUSED)
def test_reading_values_is_refused(tried: dict[str, MakerAnswer], way: str) -> None:
    """There are none."""
    refusal = tried[way].refusal
    assert refusal is not None
    assert refusal.code == REFUSED[way]


def test_a_compiled_kernel_is_a_launch(tried: dict[str, MakerAnswer]) -> None:
    """Two launches, with the same code and arguments but the output."""
    record = tried["compiled_kernel"].record
    assert record is not None, tried["compiled_kernel"].refusal
    first, second = record.launches
    assert (first.code, first.grid, first.arguments[0]) == (second.code, second.grid, second.arguments[0])
    assert second.arguments[2].view.buffer == record.outputs[0].buffer
    assert not record.not_replayable


def test_a_compiled_function_is_named_or_refused(tried: dict[str, MakerAnswer]) -> None:
    """torch.compile runs its operations in sight of the dispatcher, or not at all."""
    answer = tried["dynamo"]
    assert answer.refusal is not None or "computed by add" in answer.record.not_replayable


def test_a_write_by_address_ends_the_candidate(tmp_path: Path) -> None:
    """No address is real: the process ends by a signal and answers nothing; the maker says so."""
    command = [sys.executable, "-m", "kopt_kb.launch.record.maker"]
    feed = canonical(MakerJob(_request("by_pointer", tmp_path), 60.0, 0).to_json()) + b"\n"
    done = subprocess.run(command, input=feed, capture_output=True, check=True)
    ready, reply = done.stdout.splitlines()
    found = read(Reply, json.loads(reply), where="reply")
    assert ready + b"\n" == READY
    assert (found.ended, found.size) == ("crash", 0)
    assert found.status < 0
