"""The data of where to go on has closed vocabularies."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import WireError
from kopt_kb.workspace.journal.events import checked_data


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("category_chosen", "category", " "),
        ("category_chosen", "reason", ""),
        ("review_held", "directions", [{"category": "caching"}]),
        ("review_held", "profile", 0),
        ("opportunity", "state", "lost"),
        ("opportunity", "share_pct", "20"),
    ],
)
def test_values_outside_the_vocabulary_are_refused(samples, kind, field, value):
    """Each with the place."""
    samples[kind][field] = value
    with pytest.raises(WireError) as caught:
        checked_data(kind, samples[kind])
    assert caught.value.where.startswith(f"{kind}.{field}")
