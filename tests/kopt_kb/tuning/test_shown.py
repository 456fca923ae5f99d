"""Campaign reports as rows and blocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb import campaign_report
from kopt_kb.base.errors import KoptError
from kopt_kb.base.markup.blocks import TableBlock
from kopt_kb.cli.tune.text import render
from kopt_kb.tuning.page.campaign import _targets
from kopt_kb.tuning.shown import COLUMNS, headline, records_of, report_blocks
from kopt_kb.workspace.workspace import Workspace

CAMPAIGNS = Path(__file__).resolve().parents[3] / "benchmarks" / "campaigns" / "h200_sxm"


def test_rows_are_rounds_and_shapes() -> None:
    """Every time of the report once; a round without a time has a row."""
    report = campaign_report(CAMPAIGNS / "rms_norm_2")
    rows = records_of(report)
    assert all(tuple(row) == COLUMNS for row in rows)
    timed = {(row["round"], row["shape"]): row["median_s"] for row in rows if row["shape"] is not None}
    assert timed == {(one.number, shape): time for one in report.rounds for shape, time in one.medians_s.items()}
    assert {row["round"] for row in rows if row["median_s"] is None} == {2, 3, 4, 5}
    assert {row["round"] for row in rows if row["is_best"]} == {1}


def test_what_it_came_to_in_one_line() -> None:
    """Met, not met, not evaluable."""
    met = campaign_report(CAMPAIGNS / "rms_norm_2")
    gain = "best v1: 7.108× against the baseline v0 (trust of the times unstated)"
    assert headline(met) == (f"{gain}; 3 of 3 targets met; achieved over target 1.102 (geometric mean)", True)
    assert repr(met) == f"CampaignReport(REPORT: {headline(met)[0]})"
    assert headline(campaign_report(CAMPAIGNS / "softmax"))[1] is False
    unknown = replace(met, conditions=None, why_not="no version", best="", gain_pct=None)
    assert headline(unknown) == ("Stop Conditions not evaluable: no version", None)
    assert len(report_blocks(replace(unknown, rounds=()))) == 2
    assert met._repr_html_().count("<table>") == 3


@pytest.mark.parametrize(
    "folder", sorted(CAMPAIGNS.parent.glob("*/*/")), ids=lambda one: f"{one.parent.name}-{one.name}"
)
def test_text_page_and_notebook_agree_in_every_digit(folder: Path) -> None:
    """Achieved over target, shape by shape and over all: what the command prints, the page and the notebook show."""
    report = campaign_report(folder)
    assert report.conditions is not None and report.conditions.aggregate is not None
    text = render(report, full=True)
    aggregate = text.partition("aggregate ")[2].split()[0]
    assert f"achieved over target {aggregate} (" in headline(report)[0]
    (table,) = [
        one for one in report_blocks(report) if isinstance(one, TableBlock) and one.caption == "Stop Conditions"
    ]
    printed = [line.split() for line in text.splitlines()]
    for row in table.rows:
        assert any(str(row[0]) in words and str(row[3]) in words for words in printed), row
    state = Workspace.open(folder).state()
    page = " ".join(
        str(getattr(cell, "text", cell))
        for one in _targets(report, state).blocks
        for row in getattr(one, "rows", ())
        for cell in row
    )
    assert all(f" {row[3]} " in page for row in table.rows)


def test_there_has_to_be_a_workspace(tmp_path: Path) -> None:
    """An error with its cause, as everywhere."""
    with pytest.raises(KoptError):
        campaign_report(tmp_path)
