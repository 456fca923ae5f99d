"""The schema: what is written is read back; every bound of `check` refuses what is beyond it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.kernels.record.model import (
    VERSION,
    Buffer,
    Copy,
    Fill,
    Input,
    Launch,
    LaunchRecord,
    NullArg,
    ScalarArg,
    TensorArg,
    TensorMapArg,
    View,
)
from kopt_kb.wire import WireError, canonical, read

CODE = "a" * 64
X = View("x", 0, (4, 8), (8, 1), "bf16")
OUT = View("out", 0, (4, 8), (8, 1), "bf16")
STEP = Launch(
    CODE, "kernel", (4, 1, 1), (128, 1, 1), (1, 1, 1), 0,
    (TensorArg(X, "x"), TensorMapArg(OUT, (4, 8), 9, 3), ScalarArg("i32", 8, "n"), NullArg("scratch")),
)  # fmt: skip
RECORD = LaunchRecord(
    v=VERSION, label="l", op="rms_norm", shape=(4, 8), dtype="bf16", target="sm_90",
    buffers=(Buffer("x", "input", 64, 256, False), Buffer("out", "output", 64, 256, True)),
    inputs=(Input("x", X),), outputs=(OUT,), steps=(Fill(OUT, "0000"), Copy(X, OUT), STEP), codes={CODE: 10},
)  # fmt: skip


def test_a_record_is_read_as_it_was_written() -> None:
    """Byte for byte, with every kind of step and argument."""
    RECORD.check("here")
    text = canonical(RECORD.to_json())
    again = read(LaunchRecord, json.loads(text), where="record")
    assert again == RECORD
    assert canonical(again.to_json()) == text


def _with(**changes: Any) -> Callable[[], LaunchRecord]:
    return lambda: replace(RECORD, **changes)


def _step(**changes: Any) -> Callable[[], LaunchRecord]:
    return lambda: replace(RECORD, steps=(replace(STEP, **changes),))


WRONG = {
    "version": _with(v=2),
    "no steps": _with(steps=()),
    "twice the name": _with(buffers=(*RECORD.buffers, RECORD.buffers[0])),
    "empty buffer": _with(buffers=(replace(RECORD.buffers[0], size_bytes=0), RECORD.buffers[1])),
    "alignment": _with(buffers=(replace(RECORD.buffers[0], alignment=3), RECORD.buffers[1])),
    "huge scratch": _with(buffers=(*RECORD.buffers, Buffer("s", "scratch", 1 << 60, 256, True))),
    "unknown buffer": _with(inputs=(Input("x", replace(X, buffer="nowhere")),)),
    "beyond the buffer": _with(outputs=(replace(OUT, offset=1),)),
    "negative stride": _with(outputs=(replace(OUT, strides=(8, -1)),)),
    "rank": _with(outputs=(replace(OUT, strides=(1,)),)),
    "dtype": _with(outputs=(replace(OUT, dtype="fp99"),)),
    "writes an input": _with(steps=(Fill(X, "0000"),)),
    "pattern": _with(steps=(Fill(OUT, "00"),)),
    "unlike copy": _with(steps=(Copy(X, replace(OUT, shape=(4, 4))),)),
    "unknown code": _step(code="b" * 64),
    "grid of 0": _step(grid=(0, 1, 1)),
    "grid y": _step(grid=(1, 1 << 16, 1)),
    "threads": _step(block=(1 << 11, 1, 1)),
    "cluster": _step(cluster=(32, 1, 1)),
    "shared": _step(shared_bytes=1 << 21),
    "scalar type": _step(arguments=(ScalarArg("i128", 1),)),
    "box": _step(arguments=(TensorMapArg(OUT, (4,), 9, 3),)),
    "box of 512": _step(arguments=(TensorMapArg(OUT, (4, 512), 9, 3),)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_replay_may_use_is_refused(name: str) -> None:
    """Each with the code of a record that can't be used, and where."""
    with pytest.raises(BadInput) as caught:
        WRONG[name]().check("here")
    assert caught.value.error_code == "KB440"
    assert "here" in str(caught.value)


def test_inputs_keep_the_order_of_the_call() -> None:
    """Names are sorted in the bytes of an object, so the inputs are a list: x, then weight."""
    record = replace(RECORD, inputs=(Input("x", X), Input("weight", replace(X, offset=0))))
    again = read(LaunchRecord, json.loads(canonical(record.to_json())), where="record")
    assert [one.name for one in again.inputs] == ["x", "weight"]


def test_unknown_members_are_refused() -> None:
    """A record of a newer program is not half understood."""
    body = json.loads(canonical(RECORD.to_json()))
    body["steps"][2]["policy_window"] = 1
    with pytest.raises(WireError):
        read(LaunchRecord, body, where="record")


def test_the_end_of_a_view() -> None:
    """Rows of 8 with a gap: (3·10 + 7 + 1 + offset 2) · 2 bytes = 80; an empty view ends where it begins."""
    assert View("x", 2, (4, 8), (10, 1), "bf16").end_bytes == 80
    assert View("x", 2, (0, 8), (10, 1), "bf16").end_bytes == 4
