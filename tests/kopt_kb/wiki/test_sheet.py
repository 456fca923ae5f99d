"""Sheets: the chosen rows, and the cache's form."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.sheet import Sheet, row_value
from kopt_kb.wiki.wiki import Wiki


def test_chosen_leaves_out_rejected_and_faulty_rows(wiki_root: Path) -> None:
    """What may become a quantity."""
    sheet = Wiki(wiki_root).sheet(Wiki(wiki_root).names.resolve("T10"))
    assert sheet.chosen()["memory_bandwidth"].value == "2.0"
    sheet.faults.append(Fault("PHY-BW", "p.md", 1, "x", "", "memory_bandwidth"))
    assert "memory_bandwidth" not in sheet.chosen()


def test_values_are_exact(wiki_root: Path) -> None:
    """3.9 Gbit/s is 3,900,000,000 bit/s, not a float."""
    sheet = Wiki(wiki_root).sheet(Wiki(wiki_root).names.resolve("T10"))
    assert row_value(sheet.chosen()["memory_data_rate"]) == Fraction(3_900_000_000)


def test_cache_round_trip(wiki_root: Path) -> None:
    """Rows, footnotes, faults and checks come back equal."""
    sheet = Wiki(wiki_root, use_cache=False).sheet(Wiki(wiki_root).names.resolve("T10"))
    sheet.faults.append(Fault("WK201", "p.md", 1, "x"))
    assert Sheet.from_cache(sheet.to_cache()) == sheet
