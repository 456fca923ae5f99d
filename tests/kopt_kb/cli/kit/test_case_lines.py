"""Kernels named by lines: what is read, what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.case_lines import CaseLine, lines_of, rows_of
from kopt_kb.problem.tuned_table import TunedRow, TunedTable


def test_a_file_of_cases(tmp_path: Path) -> None:
    """One a line; comments and empty lines are none; a wrong one is named with its line."""
    file = tmp_path / "cases.txt"
    file.write_text("# kernels\n\nsum.py 4x4 fp32 BLOCK=64  # small\n")
    assert lines_of([], [str(file)]) == [CaseLine("sum.py", "4x4", "fp32", ("BLOCK=64",), f"{file}:3")]
    file.write_text("sum.py\n")
    with pytest.raises(BadInput) as caught:
        lines_of([], [str(file)])
    assert caught.value.where == f"{file}:1"


def test_rows_of_a_table() -> None:
    """Each with its shape; a key that is no number is named with its line."""
    line = CaseLine("moe.py", "{key}x8", "bf16", (), "--case")
    table = TunedTable("any", "t.csv", "", {}, (TunedRow("4", {"M": 1}, 2), TunedRow("wide", {"M": 2}, 3)))
    rows = rows_of(table, line)
    assert next(rows)[1] == (4, 8)
    with pytest.raises(BadInput) as caught:
        next(rows)
    assert caught.value.where == "t.csv:3"
