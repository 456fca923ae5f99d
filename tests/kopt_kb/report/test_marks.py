"""Shapes of marks: each its own, of one size, around its place."""

from __future__ import annotations

from itertools import combinations

import pytest

from kopt_kb.base.markup.style import GROUPS
from kopt_kb.report.marks import SERIES_SHAPES, Mark, series_shape


def test_there_is_a_shape_for_each_colour() -> None:
    """Then both come round again."""
    assert len(set(SERIES_SHAPES)) == GROUPS
    assert series_shape(GROUPS) == series_shape(0) == "dot"


@pytest.mark.parametrize("shape", [*SERIES_SHAPES, "bar"])
def test_a_mark_lies_around_its_place(shape: str) -> None:
    """Its middle within half a pixel, nothing further away than two and a half times its size."""
    xs, ys = zip(*Mark(100, 50, shape, "mark", size=4).corners, strict=True)
    assert max(xs) - min(xs) <= 20 and 4 < max(ys) - min(ys) <= 12
    assert ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2) == pytest.approx((100, 50), abs=1)


def test_no_two_shapes_have_the_same_corners() -> None:
    """Whoever sees no colours sees these."""
    made = [Mark(0, 0, shape, "").corners for shape in SERIES_SHAPES]
    assert all(one != other for one, other in combinations(made, 2))
