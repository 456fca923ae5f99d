"""The data of a campaign's own events has closed vocabularies."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import WireError
from kopt_kb.workspace.journal.events import checked_data


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("campaign_confirmed", "simulated", "no"),
        ("campaign_confirmed", "launch", {"proposers": []}),
        ("tips_read", "text", None),
        ("proposal_made", "claim", " "),
        ("proposal_made", "source", "abc"),
        ("proposal_made", "spaces", {"8x4": {"start": {}}}),
        ("project_protected", "protected", {"a": "b"}),
        ("project_frozen", "header", "M"),
        ("level_chosen", "level", "some"),
        ("stopped", "reason", "done"),
        ("blocked", "needs", [""]),
    ],
)
def test_values_outside_the_vocabulary_are_refused(samples, kind, field, value):
    """Each with the place."""
    samples[kind][field] = value
    with pytest.raises(WireError) as caught:
        checked_data(kind, samples[kind])
    assert caught.value.where.startswith(f"{kind}.{field}")
