"""The page that a projector quotes: every peak with its source, and what nobody documents."""

from __future__ import annotations

from kopt_kb.packs.curate.peaks import agent_flow
from kopt_kb.wiki.collect import Collection


def test_each_row_names_its_document(invented: Collection) -> None:
    """Citation, document and locator; UNKNOWN is a line of its own; derived rows name their formula."""
    text = agent_flow.render(invented)["hardware_peaks.md"]
    assert "| Sheet, table 1 |" in text
    assert "| = sm_count * lanes_per_sm" in text
    assert "- UNKNOWN `peak_compute[dtype=bf16;" in text
    assert "not `sol_work/peaks.json`" in text


def test_it_is_read_back(invented: Collection) -> None:
    """Values with the product of their section."""
    text = agent_flow.render(invented)["hardware_peaks.md"]
    assert agent_flow.recognises(text)
    rows = agent_flow.read(text, "f")
    assert {row.platform for row in rows} == {"T10"}
    assert {row.metric for row in rows} >= {"peak_compute", "memory_bandwidth", "l2_capacity", "sm_count"}
