"""A picture of results of the library: dots where there are times, in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.assess import assess
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import Work
from kopt_kb.report.pictured import picture
from kopt_kb.wiki.registry import Registry

STREAM = Work.given(10**9, 2 * 10**9, "fp32", "vector")


def test_measured_times_are_dots_and_rooflines_have_none(wiki_root: Path) -> None:
    """Two times of one work, and a product without any."""
    registry = Registry.open(wiki_root)
    timed = assess((1.2e-3, 1.5e-3), STREAM, registry.platform("T10"))
    drawn = picture(timed, roofline(STREAM, registry.platform("T10_PRO")))
    assert drawn.content.title == "Roofline: given on T10, T10_PRO"
    assert len([one for one in drawn.content.points if one.is_measured]) == 2
    assert drawn.svg() == drawn._repr_svg_() and drawn.svg().startswith("<?xml")
    assert drawn.terminal()


def test_a_file_is_written_once(wiki_root: Path, tmp_path: Path) -> None:
    """And never over another."""
    drawn = picture(roofline(STREAM, Registry.open(wiki_root).platform("T10")), title="A stream")
    assert "A stream" in drawn.save(tmp_path / "a.svg").read_text()
    with pytest.raises(BadInput):
        drawn.save(str(tmp_path / "a.svg"))


def test_nothing_is_no_picture() -> None:
    """Of no roofline."""
    with pytest.raises(BadInput, match="no roofline"):
        picture()
