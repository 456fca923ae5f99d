"""A reference file is the problem's Python as it stands, with what makes a problem of it behind."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.capsule import functions_in, problem_name, reference_file, self_contained
from kopt_kb.problem.tolerances import tolerance_of


def test_a_reference_file_is_python_that_names_its_adapter() -> None:
    """The source comes first; words of a description can't break out of their comment."""
    text = reference_file("x = 1\n", "stated.Stated", {"name": "a'b"}, tolerance_of("bf16"), {"of": "one\nimport os"})
    tree = ast.parse(text)
    assert text.decode().startswith("# of: one import os\nx = 1")
    assert "kopt_kb.launch.problems.stated" in {getattr(node, "module", "") for node in tree.body}


@pytest.mark.parametrize(
    ("given", "name"), [("36_RMSNorm_", "p_36_rmsnorm"), ("Llama-3.1 x", "llama_3_1_x"), ("ä", "p_")]
)
def test_names(given: str, name: str) -> None:
    """Letters, digits and underscores, a letter first."""
    assert problem_name(given) == name


def test_what_is_no_python_is_refused_at_its_line() -> None:
    """With the file and the line."""
    with pytest.raises(BadInput) as caught:
        functions_in("x = 1\ndef (", "a.py")
    assert caught.value.where == "a.py:2"


@pytest.mark.parametrize("line", ["from . import helper", "import helper", "from helper import f", "import parts.a"])
def test_files_beside_it_are_refused(tmp_path: Path, line: str) -> None:
    """Judges load one file."""
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    with pytest.raises(BadInput, match="beside it"):
        self_contained(line, tmp_path / "problem.py")
    self_contained("import torch\nimport problem", tmp_path / "problem.py")
