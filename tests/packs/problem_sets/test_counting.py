"""The work of a problem that declares none is counted in a child."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.problems.described import stated_problem
from kopt_kb.launch.problems.find import read_problem
from kopt_kb.packs.problem_sets.counting import counted
from tests.kopt_kb.launch.problems.test_problem_toml import TOML, write

pytestmark = pytest.mark.torch


def test_what_a_shape_comes_to(tmp_path: Path) -> None:
    """4 rows of 7 adds, with the tensors of the problem."""
    (shape,) = counted(read_problem(write(tmp_path)))
    assert (shape.shape, shape.fake) == ((4, 8), True)
    assert [(one.name, one.shape) for one in (*shape.inputs, *shape.outputs)] == [("x", (4, 8)), ("out", (4,))]
    assert sum(flop.useful.value for flop in shape.flops) == 28


@pytest.mark.parametrize(
    ("python", "kind", "code"),
    [
        ("import os\ndef reference(x):\n    os._exit(3)\n", BadInput, "KB086"),
        ("def reference(x):\n    raise ValueError('no')\n", BadInput, "KB084"),
        ("import no_such_thing\ndef reference(x): ...\n", MissingTool, "KB120"),
    ],
)
def test_its_own_code_may_do_anything(tmp_path: Path, python: str, kind: type[Exception], code: str) -> None:
    """It runs in a child; each end has its code."""
    with pytest.raises(kind) as caught:
        counted(read_problem(write(tmp_path, python=python)))
    assert caught.value.error_code == code


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


MODEL = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + x


def get_inputs():
    return [torch.ones(64, 128, dtype=torch.{dtype})]


def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    ("made", "asked", "bytes_read"), [("bfloat16", "", 2), ("float32", "", 4), ("bfloat16", "fp32", 4)]
)
def test_the_storage_type_is_that_of_the_inputs(tmp_path: Path, made: str, asked: str, bytes_read: int) -> None:
    """8,192 elements of what `get_inputs` makes; another type only where it is asked for."""
    file = tmp_path / "model.py"
    file.write_text(MODEL.replace("{dtype}", made))
    problem = stated_problem(read_problem(file, asked)).problem
    (work,) = problem.works()
    assert work.compulsory_bytes("dram", "read") == 8192 * bytes_read
    assert problem.dtype == ("bf16" if bytes_read == 2 else "fp32")
    assert problem.own is not None
    assert any("of the inputs themselves" in note for note in problem.own.notes) == (made == "bfloat16" and not asked)


def test_products_are_counted_in_tf32_where_asked(tmp_path: Path) -> None:
    """One file, two answers: 2 x 64 x 128 x 32 operations on the vector or on the matrix engine."""
    file = tmp_path / "model.py"
    product = MODEL.replace("return x + x", "return x @ torch.ones(128, 32)").replace("{dtype}", "float32")
    file.write_text(product)
    plain, rounded = (stated_problem(read_problem(file), compute).problem for compute in ("storage", "tf32"))
    amounts = [dict(one.works()[0].flops_by_engine()) for one in (plain, rounded)]
    assert amounts[0][("fp32", "vector")] >= 2 * 64 * 128 * 32 and ("tf32", "matrix") not in amounts[0]
    assert amounts[1][("tf32", "matrix")] == 2 * 64 * 128 * 32
    assert rounded.own is not None and any("tf32, as asked" in note for note in rounded.own.notes)
    with pytest.raises(BadInput) as caught:
        stated_problem(read_problem(file, "bf16"), "tf32")
    assert caught.value.error_code == "KB062"
