"""A problem of one's own: every refusal names the file, the line and the key."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.problem_toml import read_problem_toml

TOML = """[problem]
name = "Row sum"
file = "p.py"
form = "MxN"
shapes = ["4x8"]
dtype = "bf16"

[inputs]
x = "MxN"

[work]
flops = "M * (N - 1)"
read = "2 * M * N"
write = "2 * M"
source = "N - 1 adds a row"

[tolerance]
rel_l2_err = 0.002
"""


def write(tmp_path: Path, toml: str = TOML, python: str = "def reference(x):\n    return x.sum(-1)\n") -> Path:
    """Write both files."""
    (tmp_path / "p.py").write_text(python)
    (tmp_path / "problem.toml").write_text(toml)
    return tmp_path / "problem.toml"


def test_a_problem(tmp_path: Path) -> None:
    """Shapes, formulas and tolerance; another type and shape where asked."""
    path = write(tmp_path)
    found, other = read_problem_toml(path), read_problem_toml(path, "fp16", ("2x4",))
    assert (found.name, found.form, found.shapes, found.dtype) == ("row_sum", ("M", "N"), ((4, 8),), "bf16")
    assert found.work is not None
    assert found.work.flops == "M * (N - 1)"
    assert found.tolerance.rel_l2_err == Fraction("0.002")
    assert found.tolerance.max_abs_err_rel == Fraction("0.01")
    assert (other.dtype, other.shapes) == ("fp16", ((2, 4),))


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('"MxN"\nshapes', '"Mx2"\nshapes', 4, "no name"),
        ('["4x8"]', "[]", 5, "is empty"),
        ('x = "MxN"', "x = 3", 9, "no shape"),
        ('x = "MxN"', 'x = { shape = "MxN", draw = "dice" }', 9, "dice"),
        ('x = "MxN"', 'x = { shape = "MxN", dtype = "fp3" }', 9, "fp3"),
        ('"M * (N - 1)"', '"M * K"', 12, "K is no dimension"),
        ('"2 * M"', '"M / 3"', 14, "not a whole number"),
        ('source = "N - 1 adds a row"', 'engine = "tensor"', 15, "tensor"),
        ("0.002", "2", 18, "between 0 and 1"),
        ("0.002", '"x"', 18, "no number"),
        ('file = "p.py"', 'file = "p.py"\nreference = "norm"', 4, "lacks"),
        ("[inputs]", "[imputs]", 8, "no table"),
    ],
)
def test_refusals_name_their_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    """A word at a time."""
    path = write(tmp_path, TOML.replace(old, new, 1))
    with pytest.raises(BadInput, match=says) as caught:
        read_problem_toml(path)
    assert caught.value.where == f"{path}:{line}"


def test_inputs_come_from_somewhere(tmp_path: Path) -> None:
    """From the table, else from a function of the file."""
    bare = TOML.replace('[inputs]\nx = "MxN"\n', "")
    with pytest.raises(BadInput, match="makes none"):
        read_problem_toml(write(tmp_path, bare))
    made = "def make_inputs(shape, dtype): ...\ndef reference(x): ...\n"
    assert b"'make_inputs': 'make_inputs'" in read_problem_toml(write(tmp_path, bare, made)).text
