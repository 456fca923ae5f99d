"""The schema: what is written is read back, and nothing more is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from launch_records import OUT, RECORD, X

from kopt_kb.base.wire import WireError, canonical, parse, read
from kopt_kb.launch.record.model import Input, LaunchRecord, ScalarArg, StructArg, TensorAddress, TensorView


def test_a_record_is_read_as_it_was_written() -> None:
    """Byte for byte, with every kind of step and argument."""
    text = canonical(RECORD.to_json())
    again = read(LaunchRecord, json.loads(text), where="record")
    assert again == RECORD
    assert canonical(again.to_json()) == text


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
    assert TensorView("x", 2, (4, 8), (10, 1), "bf16").end_bytes == 80
    assert TensorView("x", 2, (0, 8), (10, 1), "bf16").end_bytes == 4


def test_contiguous_and_overlapping_views() -> None:
    """Extents of 1 have any stride; an expansion overlaps; rows with a gap do neither."""
    rows, column = TensorView("x", 0, (4, 8), (10, 1), "bf16"), TensorView("x", 0, (4, 1), (1, 99), "bf16")
    expanded = TensorView("x", 0, (4, 8), (0, 1), "bf16")
    assert [one.contiguous for one in (OUT, rows, column, expanded)] == [True, False, True, False]
    assert [one.overlaps for one in (OUT, rows, column, expanded)] == [False, False, False, True]


def test_a_struct_lies_as_c_lays_it_out() -> None:
    """Members at multiples of their sizes, the whole a multiple of the widest; read back as written."""
    x = TensorAddress(TensorView("x", 0, (4,), (1,), "bf16"), "x")
    made = StructArg.laid_out(
        (ScalarArg("i32", 7), x, ScalarArg("bf16", 1.0), ScalarArg("i1", True), ScalarArg("fp64", 0.5))
    )
    assert [one.offset for one in made.members] == [0, 8, 16, 18, 24]
    assert [one.size_bytes for one in made.members] == [4, 8, 2, 1, 8]
    assert made.size_bytes == 32
    assert StructArg.laid_out((ScalarArg("i32", 1),) * 3).size_bytes == 12
    assert read(StructArg, parse(canonical(made.to_json()))) == made
