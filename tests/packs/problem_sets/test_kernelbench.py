"""KernelBench's files: recognised by three names, fp32 unless told otherwise, with its tolerances."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.kernelbench import read_kernelbench

FILE = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"


def test_a_problem(tmp_path: Path) -> None:
    """Name, type and limits; that fp32 was chosen is said."""
    path = tmp_path / "36_RMSNorm_.py"
    path.write_text(FILE)
    found, narrow = read_kernelbench(path), read_kernelbench(path, "bf16")
    assert (found.name, found.dtype, found.tolerance.rel_l2_err) == ("kernelbench_36_rmsnorm", "fp32", Fraction("1e-4"))
    assert "fp32" in found.notes[0]
    assert (narrow.dtype, narrow.tolerance.rel_l2_err, narrow.notes) == ("bf16", Fraction("1e-2"), ())


def test_what_lacks_is_named(tmp_path: Path) -> None:
    """All of it at once."""
    path = tmp_path / "a.py"
    path.write_text("class Model: ...\n")
    with pytest.raises(BadInput, match="get_inputs, get_init_inputs is not there"):
        read_kernelbench(path)
