"""Scores recomputed by hand from the campaign's worked example."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.tuning.scoring import combined_rate, geometric_mean


@pytest.mark.parametrize(
    ("forward", "backward", "combined"),
    [(320, 160, 192.0), (305, 152, 182.5197), (290, 145, 174.0), (285, 140, 168.5915), (500, 250, 300.0),
     (520, 258, 310.077), (480, 240, 288.0), (550, 272, 327.114)],
)  # fmt: skip
def test_combined_step(forward: float, backward: float, combined: float) -> None:
    """6 / (2/F + 4/B); the published 182.515 and 327.116 come from rounded inputs."""
    assert combined_rate(forward, backward) == pytest.approx(combined, abs=5e-4)


def test_the_aggregate_is_the_geometric_mean_of_shapes() -> None:
    """192.000, 182.5197 and 174.000 give 182.692; combining aggregates instead gives another number."""
    steps = [combined_rate(*pair) for pair in ((320, 160), (305, 152), (290, 145))]
    assert geometric_mean(steps) == pytest.approx(182.692, abs=5e-4)


def test_a_failed_shape_scores_nothing() -> None:
    """A failed shape is not dropped: the whole score is 0; no shapes is no score."""
    assert geometric_mean([100.0, 0.0]) == 0
    assert combined_rate(5.0, None) == 5
    for rates in ([], [float("nan")], [-1.0]):
        with pytest.raises(BadInput):
            geometric_mean(rates)
    with pytest.raises(BadInput):
        combined_rate(0, 1)
