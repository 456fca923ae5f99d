"""The table from ncu names to the vocabulary."""

from __future__ import annotations

from kopt_kb.analysis.profile import METRICS
from kopt_kb.analysis.readers.nvidia.ncu_names import DIRECT, INSTRUCTION_SUMS, NUMERIC


def test_every_target_is_in_the_vocabulary():
    """No metric is invented by a reader."""
    assert [one for one in (*DIRECT, *INSTRUCTION_SUMS) if one not in METRICS] == []


def test_physical_metrics_demand_their_unit():
    """A duration in another unit than seconds is refused, so the table must say seconds."""
    expected = {"s": "s", "Hz": "Hz", "B/s": "B/s"}
    wrong = [m for m, source in DIRECT.items() if METRICS[m].unit in expected and source.unit != METRICS[m].unit]
    assert wrong == []


def test_a_name_stands_for_one_metric_only():
    """Two metrics of the vocabulary never read the same counter as their first choice."""
    first = [source.names[0] for source in DIRECT.values()]
    assert len(set(first)) == len(first)
    assert "gpu__time_duration.sum" in NUMERIC
