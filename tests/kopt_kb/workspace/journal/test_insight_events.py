"""The data of what a campaign understands has closed vocabularies."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import WireError
from kopt_kb.workspace.journal.events import checked_data


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("gap_accounted", "version", -1),
        ("gap_accounted", "profiles", ["7"]),
        ("gap_accounted", "gap", {"name": "8x4"}),
    ],
)
def test_values_outside_the_vocabulary_are_refused(samples, kind, field, value):
    """Each with the place."""
    samples[kind][field] = value
    with pytest.raises(WireError) as caught:
        checked_data(kind, samples[kind])
    assert caught.value.where.startswith(f"{kind}.{field}")


def test_a_part_has_a_cause_of_the_table(samples):
    """A word outside it is refused; a level may be missing."""
    samples["gap_accounted"]["gap"]["parts"][0]["cause"] = "weather"
    with pytest.raises(WireError, match="cause"):
        checked_data("gap_accounted", samples["gap_accounted"])
