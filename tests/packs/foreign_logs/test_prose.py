"""Rounds told in words: files, sections, list items, commits and single sentences."""

from __future__ import annotations

from kopt_kb.packs.foreign_logs.prose import commit_records, prose_records

SUMMARY = """# Round-3: split loads

Hypothesis: fewer stalls.

## Results
primary_score: R2 1.0426 -> R3 1.0497; n_pass: 20/20

## Decision
**ACCEPT**
"""
LOG = """# Log

We saw a 2.5x speedup over eager.

## Round 1
score = 1.00

## Round 2 reverted
score = 0.90

- **R4**: wider tiles, kept. worst 17.3% → 13.5%
  gap of the rest unchanged

## Baseline
latency = 12.0 us
"""


def test_the_file_of_a_round_is_one_record() -> None:
    """Its decision stands under a heading; numbers of another round are of that round."""
    (found,) = prose_records("c/rounds/round-3/summary.md", SUMMARY)
    assert (found.round, found.decision) == (3, "accepted")
    assert [(one.text, one.round) for one in found.of("from", "to")] == [("1.0426", 2), ("1.0497", 3)]


def test_sections_items_and_sentences() -> None:
    """Each is told once."""
    found = {one.label: one for one in prose_records("log.md", LOG)}
    assert set(found) == {"round 1", "round 2", "round 4", "line 3", "baseline"}
    assert (found["round 2"].decision, found["round 4"].decision, found["line 3"].form) == (
        "rejected",
        "accepted",
        "sentence",
    )
    assert [one.text for one in found["round 4"].of("from", "to")] == ["17.3", "13.5"]


def test_sections_without_a_result_claim_nothing() -> None:
    """A plan is none, and no heading that only speaks of one."""
    assert (
        list(prose_records("plan.md", "## Round 5\nTry larger tiles.\n\n## Ideas after the baseline plan\n+5%\n")) == []
    )


def test_messages_of_commits() -> None:
    """A round with a metric, or a step of a speed; a number of registers is none."""
    (one,) = commit_records("commit:abc", "R444: routing\n\nfwd geomean: 0.956 → 1.132\n")
    assert (one.round, one.form) == (444, "commit message")
    assert list(commit_records("commit:abd", "bump chunk_size 64→32")) == []
    assert [one.label for one in commit_records("commit:abcdef0123456", "loss geomean: 15.9% → 15.1%")] == [
        "abcdef0123"
    ]
