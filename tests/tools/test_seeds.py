"""The tables of the seeds: every row is shown by something that is there, and the pages follow from the tables."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("seeds", Path(__file__).parents[2] / "tools" / "seeds.py")
assert _SPEC is not None and _SPEC.loader is not None
seeds = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(seeds)


def test_every_row_is_shown_or_says_why_not() -> None:
    """Rows are numbered, what is not whole has a reason, and at most ten are absent."""
    found = seeds.rows()
    for name in seeds.NAMES:
        own = [int(one.row) for one in found if one.seed == name]
        assert own == list(range(1, len(own) + 1))
    assert all(one.reason for one in found if one.state != "works")
    assert all(one.show for one in found if one.state != "absent")
    assert Counter(one.state for one in found)["absent"] <= 10
    assert {one.state for one in found} <= set(seeds.STATES)


def test_what_shows_a_row_is_there() -> None:
    """Files and functions of tests, of both tables."""
    shows = {one.show for one in (*seeds.rows(), *seeds.contradictions()) if one.show}
    assert {show: seeds.fault_of(show) for show in shows if seeds.fault_of(show)} == {}
    assert seeds.fault_of("tests/tools/test_seeds.py::test_no")
    assert seeds.fault_of("tests/no.py")


@pytest.mark.parametrize("show", sorted({one.show for one in seeds.rows() if one.show.startswith("kb ")}))
def test_commands_end_as_they_say(show: str) -> None:
    """Each in an empty folder."""
    assert seeds.run_command(show) == ""


def test_the_pages_follow_from_the_tables() -> None:
    """`python tools/seeds.py` writes them."""
    for name, page in seeds.PAGES.items():
        assert (seeds.ROOT / "docs" / name).read_text(encoding="utf-8") == page()
