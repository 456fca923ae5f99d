"""Tests of the model of a space: it interpolates, it is surer where it was, and growing equals starting anew."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.launch.search.surrogate import Surrogate, filled, ranked


def test_ranks_are_centred_and_failures_share_the_worst() -> None:
    ranks = ranked([3.0, 1.0, float("inf"), float("inf"), 2.0])
    assert ranks.mean() == pytest.approx(0.0)
    assert ranks.std() == pytest.approx(1.0)
    assert ranks.argmin() == 1
    assert ranks[2] == ranks[3] == ranks.max()
    assert ranked([5.0, 5.0]).tolist() == [0.0, 0.0]


def test_the_model_is_near_what_it_saw_and_surer_there() -> None:
    features = np.linspace(0, 1, 41)[:, None]
    tried = list(range(0, 41, 5))
    values = ranked([float((features[at, 0] - 0.4) ** 2) for at in tried])
    mean, deviation = Surrogate(features, np.random.default_rng(0)).predict(tried, values)
    assert mean[tried] == pytest.approx(values, abs=0.3)
    assert deviation[tried].max() < deviation[[2, 13, 38]].min()
    assert 10 <= int(mean.argmin()) <= 22


def test_growing_place_by_place_equals_taking_all_at_once() -> None:
    random = np.random.default_rng(3)
    features = random.random((60, 3))
    values = random.random(30)
    grown, whole = (Surrogate(features, np.random.default_rng(0)) for _ in range(2))
    places = list(range(30))
    grown.predict(places[:20], values[:20])  # fits, then grows up to 24 without another fit
    for count in range(21, 24):
        mean, deviation = grown.predict(places[:count], values[:count])
    whole.predict(places[:20], values[:20])
    once_mean, once_deviation = whole.predict(places[:23], values[:23])
    assert mean == pytest.approx(once_mean)
    assert deviation == pytest.approx(once_deviation)


def test_the_same_place_twice_does_no_harm() -> None:
    features = np.zeros((4, 1))
    mean, deviation = Surrogate(features, np.random.default_rng(0)).predict([0, 1, 2], np.array([1.0, 0.0, -1.0]))
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()


def test_numbers_are_kept_where_they_are_known_and_lie_between_elsewhere() -> None:
    features = np.linspace(0, 1, 11)[:, None]
    known = [0, 4, 10]
    values = np.array([[0.0, 1.0], [0.4, 1.0], [1.0, 1.0]])
    found = filled(features[known], values, features)
    assert found[known] == pytest.approx(values, abs=0.01)
    assert 0.1 < found[2, 0] < 0.3
    assert found[:, 1] == pytest.approx(1.0)


def test_other_coordinates_are_taken_with_length_scales_that_go_on() -> None:
    """A column that says more than the others is used from the next prediction on, though as many are tried."""
    random = np.random.default_rng(1)
    blind, hint = random.random((40, 2)), np.linspace(0, 1, 40)[:, None]
    tried = list(range(0, 40, 2))
    values = ranked([float(hint[at, 0]) for at in tried])
    model = Surrogate(blind, np.random.default_rng(0))
    before, _ = model.predict(tried, values)
    assert not model.is_due(len(tried))
    model.reform(np.hstack([blind, hint]))
    assert model.is_due(len(tried))
    after, _ = model.predict(tried, values)
    truth = np.arange(40)
    assert np.corrcoef(after[1::2], truth[1::2])[0, 1] > 0.9 > np.corrcoef(before[1::2], truth[1::2])[0, 1]
