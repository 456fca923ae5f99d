"""The trend table: one row an attempt, against the baseline, masked ones without content."""

from __future__ import annotations

from kopt_kb.packs.memory_form.logs import COLUMNS
from kopt_kb.workspace.views.render import texts_of


def lines(story):
    """The rendered text's lines."""
    return texts_of(story.workspace.state(), story.store.get).files["logs/performance_trend.md"].split("\n")


def test_columns_are_those_of_the_contract(story):
    """In their order."""
    assert f"| {' | '.join(COLUMNS)} |" in lines(story)
    assert len(COLUMNS) == 10


def test_rows_by_hand(played):
    """v1 doubles the throughput of v0; v3 halves it; the baseline has a dash."""
    rows = [line.split(" | ") for line in lines(played) if line.startswith("| v")]
    assert rows[0][1:3] == ["BASELINE", "nothing changed"] and rows[0][8] == "-"
    assert rows[1][1:3] == ["ACCEPTED", "idea 1"] and rows[1][8] == "step 2×, fwd 2×, bwd -"
    assert rows[2][9].startswith("gpu-wiki: R3; correctness fail")
    assert rows[3][8].startswith("step -50 %")


def test_latencies_stand_below(played):
    """In microseconds, a dash for what was not measured."""
    assert "| v1 | 100 | 10 |" in lines(played)
    assert not any(line.startswith("| v2 | 1") for line in lines(played))


def test_a_masked_round_is_a_row_without_content(played):
    """Its idea is not read."""
    played.add("memory_masked", versions=[3], reason="x", seed=None)
    text = "\n".join(lines(played))
    assert "| v3 | MASKED | - |" in text
    assert "idea 3" not in text


def test_simulated_times_are_declared(story):
    """Above the table."""
    seq = story.machine("simulator")
    story.round(0, "accept", {"1024x512": 1e-5}, environment=seq)
    assert "SIMULATED: every time comes from a made-up model." in lines(story)
