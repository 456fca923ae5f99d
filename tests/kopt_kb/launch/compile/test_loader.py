"""Claims about importing a file of kernels."""

from __future__ import annotations

import os
import sys

import pytest

from kopt_kb.base.errors import BadInput

pytestmark = pytest.mark.triton
pytest.importorskip("triton")

from kopt_kb.launch.compile.decorated import unwrap  # noqa: E402
from kopt_kb.launch.compile.loader import jit_functions, load_module  # noqa: E402

SOURCE = "import triton\n@triton.jit\ndef second(x):\n    pass\n@triton.jit\ndef {name}(x):\n    pass\n"


def test_kernels_are_listed_by_line(tmp_path):
    """The file's own kernels, in order, not those it imports."""
    path = tmp_path / "two.py"
    path.write_text(SOURCE.format(name="first") + "from triton.language import cdiv\nalias = 3\n")
    assert list(jit_functions(load_module(str(path)))) == ["second", "first"]


def test_a_changed_file_is_imported_again(tmp_path, monkeypatch):
    """Content decides, not the path, nor size and time by which Python knows the code that it keeps; none is kept."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "changing.py"
    path.write_text(SOURCE.format(name="a"))
    os.utime(path, (1e9, 1e9))
    before = load_module(str(path))
    assert load_module(str(path)) is before
    path.write_text(SOURCE.format(name="b"))
    os.utime(path, (1e9, 1e9))
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert "b" in jit_functions(load_module(str(path)))


def test_a_neighbour_can_be_imported(tmp_path):
    """A file may import the one beside it."""
    (tmp_path / "neighbour_of_kernels.py").write_text("VALUE = 3\n")
    path = tmp_path / "main_kernels.py"
    path.write_text("from neighbour_of_kernels import VALUE\n")
    assert load_module(str(path)).VALUE == 3


def test_an_absent_file_is_refused():
    """With its name."""
    with pytest.raises(BadInput, match=r"/nowhere/k.py: no such file"):
        load_module("/nowhere/k.py")


def test_only_kernels_unwrap():
    """A plain function is none."""
    assert unwrap(test_only_kernels_unwrap) is None
