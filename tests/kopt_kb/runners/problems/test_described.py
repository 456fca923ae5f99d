"""A problem that was read gets its shapes and work from a child, or from its own formulas."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.runners.problems.described import stated_problem
from kopt_kb.runners.problems.find import read_problem
from tests.kopt_kb.runners.problems.test_problem_toml import TOML, write

pytestmark = pytest.mark.torch


def test_work_as_stated_and_as_counted(tmp_path: Path) -> None:
    """Both agree here: 4 rows of 7 adds. Who says it stands beside it."""
    declared = stated_problem(read_problem(write(tmp_path))).problem
    counted = stated_problem(read_problem(write(tmp_path, TOML.split("[work]")[0]))).problem
    for problem, origin in ((declared, "declared"), (counted, "counted")):
        (work,) = problem.works()
        assert work.flops_by_engine() == {("fp32", "vector"): 28}
        assert (work.compulsory_bytes("dram", "read"), work.compulsory_bytes("dram", "write")) == (64, 8)
        assert problem.own is not None
        assert problem.own.origin == origin
        assert origin in dict(work.definitions)["flops"]


def test_a_formula_that_the_reference_contradicts_is_noted(tmp_path: Path) -> None:
    """Twice the operations and half of the bytes: both numbers are said."""
    toml = TOML.replace('"M * (N - 1)"', '"2 * M * N"').replace('"2 * M * N"\nwrite', '"M * N"\nwrite')
    own = stated_problem(read_problem(write(tmp_path, toml))).problem.own
    assert own is not None
    assert own.notes == ("declared and counted differ on 4x8: 64 and 28 operations, 40 and 72 bytes",)


@pytest.mark.parametrize(
    ("python", "kind", "says"),
    [
        ("import os\ndef reference(x):\n    os._exit(3)\n", BadInput, "ends the process"),
        ("print('{}')\ndef reference(x):\n    raise ValueError('no')\n", BadInput, "ValueError: no"),
        ("import no_such_thing\ndef reference(x): ...\n", MissingTool, "no_such_thing"),
    ],
)
def test_its_own_code_may_do_anything(tmp_path: Path, python: str, kind: type[Exception], says: str) -> None:
    """It runs in a child."""
    with pytest.raises(kind, match=says):
        stated_problem(read_problem(write(tmp_path, python=python)))
