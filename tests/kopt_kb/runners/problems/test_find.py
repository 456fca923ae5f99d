"""What a path holds, and which problems lie below a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.runners.problems.find import find_problems, read_problem
from tests.kopt_kb.runners.problems.test_definitions import DEFINITION, workload
from tests.kopt_kb.runners.problems.test_kernelbench import FILE
from tests.kopt_kb.runners.problems.test_problem_toml import write


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
