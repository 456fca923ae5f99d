"""Definitions and workloads of SOL-ExecBench and FlashInfer-Bench; what can't be used is counted by reason."""

from __future__ import annotations

import json
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.definitions import DefinitionPlace, read_definition

DEFINITION: dict[str, Any] = {
    "name": "RMSNorm h8",
    "axes": {
        "batch": {"type": "var"}, "hidden": {"type": "const", "value": 8},
        "half": {"type": "expr", "expression": "hidden // 2"},
    },
    "inputs": {
        "x": {"shape": ["batch", "hidden"], "dtype": "bfloat16"},
        "eps": {"shape": None, "dtype": "float32"},
        "at": {"shape": ["half"], "dtype": "int32"},
    },
    "outputs": {"out": {"shape": ["batch", "half"], "dtype": "bfloat16"}},
    "reference": "def run(x, eps, at):\n    return x[:, at]",
}  # fmt: skip


def workload(batch: int, **more: Any) -> dict[str, Any]:
    """One line of a workload file."""
    inputs = {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-5}, "at": {"type": "random"}}
    return {"uuid": f"w{batch}", "axes": {"batch": batch}, "inputs": inputs, **more}


def place(tmp_path: Path, lines: list[Any], definition: Any = DEFINITION) -> DefinitionPlace:
    """Write both files."""
    (tmp_path / "definition.json").write_text(json.dumps(definition))
    (tmp_path / "workload.jsonl").write_text("\n".join(json.dumps(one) for one in lines))
    return DefinitionPlace("SOL-ExecBench", tmp_path / "definition.json", tmp_path / "workload.jsonl", (tmp_path,))


def test_shapes_are_the_variable_axes(tmp_path: Path) -> None:
    """In the order of the file; a trace holds its workload inside."""
    found = read_definition(place(tmp_path, [workload(7), {"definition": "x", "workload": workload(3)}]))
    assert (found.name, found.form, found.shapes, found.dtype) == ("rmsnorm_h8", ("batch",), ((7,), (3,)), "bf16")
    assert found.workloads == ("w7", "w3")
    assert found.tolerance.rel_l2_err == Fraction("1e-2")


def test_the_loosest_tolerance_of_a_workload_holds(tmp_path: Path) -> None:
    """They are one problem here; the limit says where it is from."""
    found = read_definition(place(tmp_path, [workload(7, tolerance={"max_rtol": 0.002}), workload(8)]))
    assert found.tolerance.rel_l2_err == Fraction("1e-2")
    assert "max_rtol" in found.tolerance.reason
    only = read_definition(place(tmp_path, [workload(7, tolerance={"max_rtol": 0.002})]))
    assert only.tolerance.rel_l2_err == Fraction("0.002")


def test_recorded_inputs_go_into_the_reference_file(tmp_path: Path) -> None:
    """Read by hand: no package is needed; a file that is not there leaves the workload out, and that is said."""
    header = json.dumps({"at": {"dtype": "I32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    data = struct.pack("<4i", 1, 3, 5, 7)
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    held, gone = ({"type": "safetensors", "path": f"deep/{name}.safetensors", "tensor_key": "at"} for name in "bc")
    lines = [workload(7), workload(8), workload(8)]
    lines[0]["inputs"]["at"], lines[1]["inputs"]["at"] = held, gone
    found = read_definition(place(tmp_path, lines))
    assert found.shapes == ((7,), (8,))
    assert found.notes == ("1 workload(s) left out: its recorded inputs (safetensors) are not beside it",)
    assert b"AQAAAAMAAAAFAAAABwAAAA==" in found.text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"reference": "x = 1"}, "no function run"),
        ({"inputs": {"x": {"shape": ["batch"], "dtype": "float4_e2m1"}}}, "float4_e2m1"),
        ({"inputs": {"eps": {"shape": None, "dtype": "float32"}}}, "no tensor"),
        ({"axes": []}, "no JSON object"),
    ],
)
def test_what_is_not_as_the_schema_says(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    """One line with the file."""
    with pytest.raises(BadInput, match=says):
        read_definition(place(tmp_path, [workload(7)], {**DEFINITION, **change}))


@pytest.mark.parametrize("lines", [[], [{"axes": {"batch": 0}, "inputs": {}}], ["text"], [workload(7) | {"axes": {}}]])
def test_workloads_that_can_not_be_used(tmp_path: Path, lines: list[Any]) -> None:
    """None, an empty axis, no object, an axis that is missing."""
    with pytest.raises(BadInput):
        read_definition(place(tmp_path, lines))
