"""What a search believes of places it has not tried: a Gaussian process that grows by one place at a time.

Times enter by their rank, so that a table whose worst place is forty times its best is judged where it matters, near
the best. Growing costs O(tried x places) a place; length scales are fitted anew each time a tenth more is known, from a
hundred places on a third.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kopt_kb.launch.search.space import Floats

__all__ = ["Surrogate", "filled", "ranked"]

_FIT = 250
"""Places by which length scales are fitted: the best half and a sample of the others."""
_STEPS = 24
_FEW, _GROWTH_OF_FEW, _GROWTH = 100, 1.1, 1.3
_LEAST_VARIANCE = 1e-9
_SMOOTH = 1e-3
"""Variance of a learnt number that is not of its place, in ranks."""


def ranked(values: Sequence[float]) -> Floats:
    """Return the ranks of times, scaled to mean 0 and deviation 1; failures are infinite and share the worst rank."""
    times = np.array(values, dtype=np.float64)
    ranks = np.searchsorted(np.sort(times), times, side="left").astype(np.float64)
    spread = float(ranks.std())
    return np.asarray((ranks - ranks.mean()) / (spread or 1.0))


class Surrogate:
    """Mean and deviation of the rank of every place, from the ranks of those tried.

    Args:
        features: Coordinates of each place (places x dimensions).
        random: Draws the steps of a fit.
    """

    def __init__(self, features: Floats, random: np.random.Generator) -> None:
        self._features, self._random = features, random
        self._log_scales = np.zeros(features.shape[1])
        self._log_noise = -6.0
        self._tried: list[int] = []
        self._fit_at = 0
        self._factors: Floats = np.zeros((0, 0))
        self._rows: Floats = np.zeros((0, len(features)))
        self._variance: Floats = np.ones(len(features))

    def reform(self, features: Floats) -> None:
        """Take other coordinates, places or more columns than before; length scales go on from where they were."""
        added = features.shape[1] - len(self._log_scales)
        self._log_scales = np.append(self._log_scales, np.zeros(added))
        self._features, self._fit_at = features, 0

    def is_due(self, count: int) -> bool:
        """Return whether length scales are fitted anew once so many are tried."""
        return count >= self._fit_at

    def predict(self, tried: Sequence[int], values: Floats) -> tuple[Floats, Floats]:
        """Return mean and deviation at every place.

        Args:
            tried: Places, in an order that only grows from call to call.
            values: Of each.
        """
        if self.is_due(len(tried)):
            self._fit(np.array(tried), values)
            self._fit_at = int((_GROWTH_OF_FEW if len(tried) < _FEW else _GROWTH) * len(tried)) + 2
            self._factorise(tried)
        for at in tried[len(self._tried) :]:
            self._append(at)
        count = len(values)
        weights = np.linalg.solve(self._factors[:count, :count], values)
        scale = float(weights @ weights) / count
        return weights @ self._rows[:count], np.sqrt(scale * np.maximum(_LEAST_VARIANCE, self._variance))

    def _factorise(self, tried: Sequence[int]) -> None:
        """Compute everything anew, with room for as many places as come before the next fit."""
        self._tried, count = list(tried), len(tried)
        kernel = _matern(self._features[self._tried], self._features, self._log_scales)
        own = kernel[:, self._tried] + math.exp(self._log_noise) * np.eye(count)
        room = max(self._fit_at, count) + 1
        self._factors, self._rows = np.zeros((room, room)), np.empty((room, len(self._features)))
        self._factors[:count, :count] = np.linalg.cholesky(own)
        self._rows[:count] = np.linalg.solve(self._factors[:count, :count], kernel)
        self._variance = 1 - (self._rows[:count] ** 2).sum(axis=0)

    def _append(self, at: int) -> None:
        """Take one more place."""
        count = len(self._tried)
        kernel = _matern(self._features[[at]], self._features, self._log_scales)[0]
        known = self._rows[:count, at].copy()
        last = math.sqrt(max(1 + math.exp(self._log_noise) - float(known @ known), 1e-8))
        self._rows[count] = (kernel - known @ self._rows[:count]) / last
        self._factors[count, :count], self._factors[count, count] = known, last
        self._variance = self._variance - self._rows[count] ** 2
        self._tried.append(at)

    def _fit(self, tried: Floats, values: Floats) -> None:
        """Move one length scale, or the noise, at random as long as that makes what was seen more likely."""
        if len(tried) > _FIT:
            order = np.argsort(values, kind="stable")
            rest = self._random.choice(order[_FIT // 2 :], _FIT // 2, replace=False)
            chosen = np.concatenate([order[: _FIT // 2], rest])
            tried, values = tried[chosen], values[chosen]
        points = self._features[tried]
        place = np.append(self._log_scales, self._log_noise)
        least = _unlikely(points, values, place)
        for _ in range(_STEPS):
            moved = place.copy()
            moved[self._random.integers(len(place))] += self._random.normal() * 0.7
            if (found := _unlikely(points, values, moved)) < least:
                least, place = found, moved
        self._log_scales, self._log_noise = place[:-1], float(place[-1])


def _matern(one: Floats, other: Floats, log_scales: Floats) -> Floats:
    """Return the Matern 5/2 kernel, with one inverse length scale a dimension."""
    scales = np.exp(log_scales)
    left, right = one * scales, other * scales
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    distance = np.sqrt(5 * np.maximum(0.0, squared) + 1e-12)
    return np.asarray((1 + distance + distance**2 / 3) * np.exp(-distance))


def _unlikely(points: Floats, values: Floats, place: Floats) -> float:
    """Return the negative log posterior of length scales and noise (log-normal priors about 1 and e⁻⁷)."""
    kernel = _matern(points, points, place[:-1]) + math.exp(place[-1]) * np.eye(len(points))
    try:
        factor = np.linalg.cholesky(kernel)
    except np.linalg.LinAlgError:
        return math.inf
    weights = np.linalg.solve(factor, values)
    scale = max(float(weights @ weights) / len(values), 1e-12)
    prior = 0.5 * float((place[:-1] ** 2).sum()) + float(place[-1] + 7) ** 2 / 8
    return 0.5 * len(values) * math.log(scale) + float(np.log(np.diag(factor)).sum()) + prior


def filled(known: Floats, values: Floats, wanted: Floats) -> Floats:
    """Return numbers of places from those that are known: where a place is one of them its own, else as those beside.

    Args:
        known: Coordinates of places whose numbers are known (known x dimensions).
        values: Of each, in columns (known x numbers).
        wanted: Coordinates of places (places x dimensions).
    """
    scales, mean = np.zeros(known.shape[1]), values.mean(axis=0)
    kernel = _matern(known, known, scales) + _SMOOTH * np.eye(len(known))
    weights = np.linalg.solve(kernel, values - mean)
    return np.asarray(mean + _matern(wanted, known, scales) @ weights)
