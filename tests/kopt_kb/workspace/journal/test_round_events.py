"""The data of campaign events has closed vocabularies and finite numbers."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import WireError
from kopt_kb.workspace.journal.events import checked_data


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("decided", "decision", "accepted"),
        ("gate_judged", "result", "skipped"),
        ("run_finished", "outcome", "timeout"),
        ("stopped", "reason", "done"),
        ("measured", "median_s", float("nan")),
        ("measured", "n", 0),
        ("measured", "environment", 0),
        ("snapshot_taken", "version", -1),
        ("run_started", "attempt", 0),
        ("hypothesis_stated", "claim", "\n"),
    ],
)
def test_values_outside_the_vocabulary_or_range_are_refused_by_name(samples, kind, field, value):
    """The error's place is kind and field."""
    samples[kind][field] = value
    with pytest.raises(WireError) as caught:
        checked_data(kind, samples[kind])
    assert caught.value.where == f"{kind}.{field}"


def test_a_decision_from_before_refutations_still_reads(samples):
    """The field is missing in old journals and then empty; a version is a number from 0."""
    old = {name: value for name, value in samples["decided"].items() if name != "refutes"}
    assert checked_data("decided", old).refutes == ()
    with pytest.raises(WireError, match="at least 0"):
        checked_data("decided", {**old, "refutes": [-1]})
