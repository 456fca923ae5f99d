"""Which files are problems of public benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.find import find_problems, read_problem
from kopt_kb.packs.problem_sets.sources import (
    is_class_file,
    is_definition,
    is_trace_definition,
    read_class_file,
    read_definition_file,
)
from tests.kopt_kb.launch.problems.test_problem_toml import write
from tests.packs.problem_sets.test_definitions import DEFINITION, workload
from tests.packs.problem_sets.test_kernelbench import FILE


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    """A definition with a workload beside it."""
    (tmp_path / "workload.jsonl").write_text(json.dumps(workload(7)))
    (tmp_path / "definition.json").write_text(json.dumps(DEFINITION))
    return tmp_path / "definition.json"


@pytest.mark.parametrize(("text", "expected"), [(FILE, True), ("class Model: ...\n", False)])
def test_three_names_make_a_file_of_classes(tmp_path: Path, text: str, expected: bool) -> None:
    """All of them at the top."""
    (tmp_path / "a.py").write_text(text)
    assert is_class_file(tmp_path / "a.py") is expected


def test_definitions_are_known_by_their_place(tmp_path: Path, definition: Path) -> None:
    """By its name, or by its folder and its keys."""
    other = tmp_path / "definitions" / "norm.json"
    other.parent.mkdir()
    other.write_text(json.dumps(DEFINITION))
    (other.parent / "none.json").write_text("{}")
    assert is_definition(definition)
    assert not is_definition(other)
    found = [is_trace_definition(one) for one in (definition, other, other.parent / "none.json")]
    assert found == [False, True, False]


def test_what_a_form_fixes_is_refused_otherwise(tmp_path: Path, definition: Path) -> None:
    """Another type, another shape; each with its code."""
    (tmp_path / "a.py").write_text(FILE)
    assert read_definition_file(definition).shapes == ((7,),)
    for asked, code in (
        (lambda: read_definition_file(definition, "fp16"), "KB103"),
        (lambda: read_definition_file(definition, "", ("8",)), "KB102"),
        (lambda: read_class_file(tmp_path / "a.py", "", ("8x8",)), "KB103"),
    ):
        with pytest.raises(BadInput) as caught:
            asked()
        assert caught.value.error_code == code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One problem of each form, and files that are none."""
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "1_Norm.py").write_text(FILE)
    (tmp_path / "level1" / "tool.py").write_text("print(1)\n")
    (tmp_path / "own").mkdir()
    write(tmp_path / "own")
    for where, name, data, lines in (
        ("sol", "definition.json", "workload.jsonl", workload(7)),
        ("set", "definitions/norm/a.json", "workloads/norm/a.jsonl", {"workload": workload(9)}),
    ):
        for file, text in ((name, DEFINITION), (data, lines)):
            (tmp_path / where / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / where / file).write_text(json.dumps(text))
    return tmp_path


def test_every_form_is_found_and_read(folder: Path) -> None:
    """In the order of their paths; a folder with one problem stands for it."""
    found = find_problems(folder)
    assert [one.relative_to(folder).as_posix() for one in found] == [
        "level1/1_Norm.py", "own/problem.toml", "set/definitions/norm/a.json", "sol/definition.json",
    ]  # fmt: skip
    assert [read_problem(one).source for one in found] == [
        "KernelBench", "problem.toml", "FlashInfer-Bench", "SOL-ExecBench",
    ]  # fmt: skip
    assert read_problem(folder / "sol").shapes == ((7,),)
    assert read_problem(folder / "set").shapes == ((9,),)


@pytest.mark.parametrize(
    ("path", "dtype", "shapes", "says"),
    [
        ("", "", (), "holds 4 problems"),
        ("gone", "", (), "no such file"),
        ("level1/tool.py", "", (), "KernelBench problem has"),
        ("sol", "fp16", (), "states the types"),
        ("sol", "", ("8",), "no workload has the axes 8"),
        ("level1/1_Norm.py", "", ("8x8",), "get_inputs"),
        ("sol/workload.jsonl", "", (), "known form"),
    ],
)
def test_refused(folder: Path, path: str, dtype: str, shapes: tuple[str, ...], says: str) -> None:
    """What is there instead, and what to name."""
    with pytest.raises(BadInput, match=says):
        read_problem(folder / path, dtype, shapes)
