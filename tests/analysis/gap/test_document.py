"""The document of a gap: derived numbers, lines for people, and back from JSON."""

from __future__ import annotations

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.gap.document import Gap, GapPart
from kopt_kb.base.wire import read

PARTS = (
    GapPart("extra-bytes", 1e-6, 25.0, 10.0, "l2", "measured", (Evidence("l2_use_pct", 50.0, "%"),)),
    GapPart("latency", 2e-6, 50.0, 20.0, certainty="estimate"),
    GapPart("unexplained", 1e-6, 25.0, 10.0),
)
GAP = Gap("8x8", 10e-6, "dram", 6e-6, "documented", ("hardware/a.md:L1",), PARTS, ("record it",), ("mind it",))


def test_numbers_follow_from_the_parts() -> None:
    """10 us over a roof of 6 us: 60 % of the roof, a gap of 4 us, a quarter of it unexplained."""
    assert GAP.gap_s == GAP.time_s - 6e-6
    assert GAP.of_roof_pct is not None
    assert round(GAP.of_roof_pct, 9) == 60.0
    assert GAP.unexplained_pct == 25.0
    assert GAP.summary() == (
        "60.0 % of the roof of dram; of the rest exposed latency 50 %, extra bytes (l2) 25 %, unexplained 25 %"
    )


def test_lines_for_people() -> None:
    """The roof with its rows, one line a part with its certainty and proof, then notes and what to record."""
    assert GAP.text().splitlines() == [
        "8x8: 10 us, 60.0 % of the roof of dram (documented; hardware/a.md:L1)",
        "  extra bytes (l2): 25.0 % of the gap, 10.0 % of the time (l2_use_pct 50 %)",
        "  exposed latency: about 50.0 % of the gap, 20.0 % of the time",
        "  unexplained: 25.0 % of the gap, 10.0 % of the time",
        "  Note: mind it",
        "  Record next: record it",
    ]


def test_it_is_read_back_from_json() -> None:
    """What a journal keeps is what was written; a part without a level has none in the document."""
    document = GAP.to_json()
    assert read(Gap, document) == GAP
    parts = document["parts"]
    assert isinstance(parts, list)
    assert ["level" in part for part in parts if isinstance(part, dict)] == [True, False, False]


def test_without_a_roof_nothing_is_accounted_for() -> None:
    """No roof, no gap, no share, and a line that says so."""
    bare = Gap("k", 1e-6, "", None, "unknown")
    assert (bare.gap_s, bare.of_roof_pct, bare.unexplained_pct, bare.summary()) == (None, None, None, "")
    assert bare.text() == "k: 1 us, no roof is known"
