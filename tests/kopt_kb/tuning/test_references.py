"""Searching a reference project."""

from __future__ import annotations

import os
from pathlib import Path

from kopt_kb.tuning.references import references_of


def test_the_file_that_speaks_of_it_most_comes_first(tmp_path: Path) -> None:
    """With its first line; spellings with other separators count, other texts do not."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "norm.py").write_text("import x\ndef rms_norm(a):\n    return RMSNorm(a)\n")
    (tmp_path / "README.md").write_text("An rms-norm.\n")
    (tmp_path / "gemm.py").write_text("def matmul(): ...\n")
    found = references_of(str(tmp_path), ("rms_norm",))
    assert [(Path(one.path).name, one.line, one.matches) for one in found] == [("norm.py", 2, 2), ("README.md", 1, 1)]
    assert [Path(one.path).name for one in references_of(str(tmp_path), ("gemm",))] == ["gemm.py"]


def test_what_is_no_text_of_the_project_is_left_out(tmp_path: Path) -> None:
    """Binary suffixes, hidden folders, huge files, pipes; and a project that is not there."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "softmax.py").write_text("softmax")
    (tmp_path / "softmax.bin").write_text("softmax")
    (tmp_path / "big.py").write_text("softmax\n" * 100_000)
    os.mkfifo(tmp_path / "pipe.py")
    assert references_of(str(tmp_path), ("softmax",)) == ()
    assert references_of(str(tmp_path / "nothing"), ("softmax",)) == references_of("", ("softmax",)) == ()


def test_control_characters_do_not_get_out(tmp_path: Path) -> None:
    """A line is shown without what a terminal would obey."""
    (tmp_path / "a.py").write_text("x \x1b[31m softmax\n")
    (one,) = references_of(str(tmp_path), ("softmax",))
    assert one.text == "x [31m softmax"
