"""A line of proof as text, and how a threshold compares."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.evidence import Evidence, Threshold
from kopt_kb.analysis.rules.thresholds import load_thresholds


def test_a_line_shows_value_threshold_and_row() -> None:
    """Metric, value, comparison, the wiki row, what it means."""
    row = load_thresholds().row("BN-SATURATED", "use_pct")
    text = str(Evidence("dram_use_pct", 93.361, "%", row, "busy"))
    assert text == f"dram_use_pct 93.36 % >= 60 ({row.citation}): busy"
    assert str(Evidence("waves_per_sm", 1.5, "1")) == "waves_per_sm 1.5"


@pytest.mark.parametrize(
    ("op", "met"),
    [
        (">=", (False, True, True)),
        (">", (False, False, True)),
        ("<=", (True, True, False)),
        ("<", (True, False, False)),
    ],
)
def test_a_threshold_compares_as_it_is_written(op: str, met: tuple[bool, bool, bool]) -> None:
    """Below, at and above 60."""
    row = Threshold("BN-X", "use_pct", op, 60.0, "%", "kopt-kb zoo: made up", "page.md:1")
    assert tuple(row.met(value) for value in (59.9, 60.0, 60.1)) == met
