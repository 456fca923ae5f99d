"""Ticks of logarithmic axes, and the numbers at them."""

from __future__ import annotations

import pytest

from kopt_kb.report.axes import Plot, number, ticks
from kopt_kb.report.labels import Box
from kopt_kb.report.picture import DrawnRoof, Picture


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0.05, 200.0, [0.1, 1, 10, 100]), (3.0, 30.0, [5, 10, 20]), (1e-9, 1e12, [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9])],
)  # fmt: skip
def test_ticks_are_few_and_round(low: float, high: float, found: list[float]) -> None:
    """Powers of ten, parts of them in narrow ranges, steps of several in wide ones."""
    assert ticks(low, high)[: len(found)] == pytest.approx(found)
    assert len(ticks(low, high)) <= 10
    assert [number(one) for one in (0.1, 1000.0, 1e6, 1e-6)] == ["0.1", "1000", "1M", "1u"]


def test_a_power_of_ten_is_everywhere_as_wide() -> None:
    """On both axes, and a roof bends at its ridge."""
    roof = DrawnRoof("r", 1e12, 1e13, "s")
    plot = Plot(Picture("t", (roof,), ()), Box(50, 20, 450, 320))
    assert plot.x(100) - plot.x(10) == pytest.approx(plot.x(10) - plot.x(1))
    assert plot.y(1e12) - plot.y(1e13) == pytest.approx(plot.y(1e11) - plot.y(1e12))
    (_, _), (x, y), (end, flat) = plot.path(roof)
    assert (x, y, flat) == (plot.x(10.0), plot.y(1e13), y)
    assert end == pytest.approx(450)
