"""Evidence and findings as text."""

from __future__ import annotations

from kopt_kb.analysis.rules.base import Evidence, Finding
from kopt_kb.analysis.rules.thresholds import load_thresholds


def test_a_line_shows_value_threshold_and_row() -> None:
    """Metric, value, comparison, the wiki row, what it means."""
    row = load_thresholds().row("BN-SATURATED", "use_pct")
    text = str(Evidence("dram_use_pct", 93.361, "%", row, "busy"))
    assert text == f"dram_use_pct 93.36 % >= 60 ({row.citation}): busy"
    assert str(Evidence("waves_per_sm", 1.5, "1")) == "waves_per_sm 1.5"


def test_a_finding_knows_its_class() -> None:
    """The limiter decides."""
    assert Finding("BN-TAIL", "tail", ()).bottleneck == "latency-bound"
