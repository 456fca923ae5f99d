"""The grammar of threshold pages."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.evidence import ThresholdFault
from kopt_kb.analysis.rules.thresholds import load_thresholds, read_thresholds

HEAD = "| Code | Metric | Op | Value | Unit | Source | Note |\n|---|---|---|---|---|---|---|\n"
NOTE = '\n\n[^a]: title="Rules"; publisher="Maker"; url="https://example.org"; revision="1"; read="2026-11-21"\n'
ROW = '| BN-X | use_pct | >= | 60 | % | [^a] rule quote="60" | |'


def test_a_row_is_read_with_its_source() -> None:
    """Value, comparison, document and line."""
    row = read_thresholds(HEAD + ROW + NOTE, "counters/x.md").row("BN-X", "use_pct")
    assert (row.value, row.source, row.citation) == (60.0, "Rules, rule", "counters/x.md:3")
    assert (row.met(60.0), row.met(59.9)) == (True, False)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("| BN-X | use_pct | >= | 60 | % | kopt-kb zoo | |", "reason"),
        ("| BN-X | use_pct | = | 60 | % | kopt-kb zoo | reason: so |", "none of"),
        ("| BN-X | use_pct | >= | many | % | kopt-kb zoo | reason: so |", "no number"),
        ("| BN-X | use_pct | >= | 60 | % | somebody | reason: so |", "neither"),
        ("| BN-X | use_pct | >= | 60 | % | kopt-kb zoo |", "6 cells"),
        ("| x | use_pct | >= | 60 | % | kopt-kb zoo | reason: so |", "no code"),
        (ROW + "\n" + ROW, "twice"),
    ],
)
def test_faults_name_the_line(row: str, says: str) -> None:
    """What breaks the grammar is refused with its place."""
    with pytest.raises(ThresholdFault, match=says) as fault:
        read_thresholds(HEAD + row + NOTE, "counters/x.md")
    assert fault.value.where.startswith("counters/x.md:")


def test_a_bar_in_a_cell_is_escaped() -> None:
    """`\\|` is part of the cell, as on every page of the wiki."""
    row = ROW.replace("| |", "| reason: a \\| b |")
    own = row.replace('[^a] rule quote="60"', "kopt-kb zoo")
    assert read_thresholds(HEAD + own, "x.md").row("BN-X", "use_pct").source == "kopt-kb zoo: a | b"


def test_a_row_that_lost_its_last_bar_is_refused() -> None:
    """It would end the table, and all rows below it were never read."""
    with pytest.raises(ThresholdFault, match="no table row") as fault:
        read_thresholds(f"{HEAD}{ROW[:-3]}\n{ROW.replace('use_pct', 'other_pct')}{NOTE}", "x.md")
    assert fault.value.where == "x.md:3"


def test_a_page_without_a_table_is_refused() -> None:
    """An empty page gives no verdicts."""
    with pytest.raises(ThresholdFault, match="no table"):
        read_thresholds("# nothing\n", "counters/x.md")


def test_own_thresholds_say_why() -> None:
    """Every packaged row has a document, or the zoo and a reason."""
    for row in load_thresholds().rows.values():
        assert row.source.startswith("kopt-kb zoo: ") or row.source.startswith("Nsight Compute rule ")


def test_a_missing_row_is_named() -> None:
    """A rule that reads a row which is not there fails with code and metric."""
    with pytest.raises(ThresholdFault, match="BN-NONE use_pct"):
        load_thresholds().row("BN-NONE", "use_pct")
