"""Footnotes name a document completely or are faults."""

from __future__ import annotations

import datetime

import pytest

from kopt_kb.wiki.footnotes import days_to_come, read_footnotes

GOOD = '[^a]: title="T; with semicolon"; publisher="P"; url="https://x"; revision="1"; read="2026-11-21"'


def test_a_definition() -> None:
    """All fields, its line."""
    found, bad = read_footnotes(["text", GOOD])
    assert not bad
    assert (found["a"].title, found["a"].line) == ("T; with semicolon", 2)


@pytest.mark.parametrize(
    "line",
    [GOOD.replace('publisher="P"; ', ""), GOOD.replace('"P"', '""'), GOOD.replace("2026-11-21", "21.11.2026"), GOOD.replace("; url", " url"), GOOD + '; more="x"', "[^a]: A plain text.", GOOD.replace("title", "titel")],
)  # fmt: skip
def test_malformed_definitions(line: str) -> None:
    """Missing, empty, unordered or unknown fields; dates that are none."""
    found, bad = read_footnotes([line])
    assert not found
    assert bad[0][0] == 1


def test_the_first_of_two_definitions_stays() -> None:
    """The second is a fault on its own line."""
    found, bad = read_footnotes([GOOD, GOOD.replace('"T;', '"U;')])
    assert found["a"].title.startswith("T")
    assert [line for line, _ in bad] == [2]


def test_evidence_stands_on_knowledge_pages_only() -> None:
    """Where it is asked for it is needed, elsewhere it is a surplus field."""
    behind = '; basis="report"; n="1"; part="any"; toolkit="any"; expires="2027-11-21"'
    found, bad = read_footnotes([GOOD + behind], evidence=True)
    assert not bad
    assert found["a"].evidence is not None
    assert (found["a"].evidence.basis, found["a"].read) == ("report", "2026-11-21")
    assert read_footnotes([GOOD], evidence=True)[1]
    assert read_footnotes([GOOD + behind])[1]


@pytest.mark.parametrize(("days", "fine"), [(0, True), (1, True), (2, False), (400, False)])
def test_nothing_was_read_on_a_day_to_come(days: int, fine: bool) -> None:
    """Where it is tomorrow already a document can be read tomorrow; a page is read whatever the clock says."""
    day = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=days)
    found, bad = read_footnotes(["text", GOOD.replace("2026-11-21", day.isoformat())])
    assert not bad
    assert [(fault.code, fault.path, fault.line) for fault in days_to_come("p.md", found)] == (
        [] if fine else [("WK206", "p.md", 2)]
    )
