"""The most detailed level that fits is taken; what never fits is refused."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.markup.blocks import Cell, ReportPage
from kopt_kb.tuning.page.fitted import LEVELS, MOST_BYTES, CutLevel, fitted


def test_levels_are_tried_in_order() -> None:
    """A page of a letter a letter: the second level fits."""
    asked: list[CutLevel] = []

    def make(level: CutLevel) -> ReportPage:
        asked.append(level)
        return ReportPage("t", (Cell("x" * level.letters * 200),), (), "m")

    assert len(fitted(make, "n")) <= MOST_BYTES
    assert asked == list(LEVELS[:2])


def test_what_never_fits_is_refused() -> None:
    """With its name, cut, and where all of it is."""
    with pytest.raises(BadInput, match="even with few rows") as caught:
        fitted(lambda _: ReportPage("t", (Cell("x" * MOST_BYTES),), (), "m"), "n" * 1000)
    assert len(caught.value.where) == 80
