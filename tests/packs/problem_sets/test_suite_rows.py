"""What a suite's table counts."""

from __future__ import annotations

from kopt_kb.packs.problem_sets.suite_rows import Suite, SuiteRow


def test_a_problem_is_correct_on_every_shape_or_not_at_all() -> None:
    """Rows are shapes; problems are counted."""
    rows = (
        SuiteRow("a", "x", "a.py", "correct", shape="1"), SuiteRow("a", "x", "a.py", "wrong", shape="2"),
        SuiteRow("b", "x", "b.py", "correct", shape="1"),
    )  # fmt: skip
    assert (Suite("T10", rows).problems, Suite("T10", rows).correct) == (2, 1)
