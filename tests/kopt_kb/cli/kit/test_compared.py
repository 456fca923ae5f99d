"""A comparison as people read it: each verdict has a code, what is others' text is no markup."""

from __future__ import annotations

from typing import get_args

from kopt_kb.cli.kit.compared import CODES, change_of, comparison_text
from kopt_kb.launch.judge.blocks import ComparedKernel
from kopt_kb.launch.judge.revisions import ComparedCase, RunComparison, RunVerdict


def test_each_verdict_has_a_code_of_its_own() -> None:
    """0, 1 and 4."""
    assert set(CODES) == set(get_args(RunVerdict))
    assert sorted(CODES.values()) == [0, 1, 4]


def test_nothing_of_others_is_markup() -> None:
    """Names with bars, brackets and line ends stay in their cell."""
    kernel = ComparedKernel("undecided", "a\nb|c", 1.5)
    case = ComparedCase("[x](y)|z\n", "k.py", "4x4", "bf16", "main", "HEAD", True, kernel)
    text = comparison_text(RunComparison("undecided", "main", "HEAD", "T10", 2.0, 0.01, 1, (case,)), markdown=True)
    assert "| \\[x\\](y)\\|z | 4x4 bf16 |" in text and "a b\\|c" in text
    assert change_of(kernel) == "+50.00 %"
    assert change_of(ComparedKernel("equal", "")) == ""
