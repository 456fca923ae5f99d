"""Reports: the baseline, a summary a round, the optimization log."""

from __future__ import annotations

import json
import re

from kopt_kb.workspace.views.render import texts_of

BASELINE, OPTIMIZE = "baseline_report.md", "logs/optimize.md"


def text(story, path):
    """One rendered file."""
    return texts_of(story.workspace.state(), story.store.get).files[path]


def test_the_baseline_report_comes_with_the_baseline(story):
    """Not before it is measured; then with machine, records and cited values."""
    assert BASELINE not in texts_of(story.workspace.state(), story.store.get).files
    seq = story.machine()
    story.add("noise_measured", shape="1024x512", n=5, median_s=1e-5, mad_s=1e-7, floor_pct=1.5, run="r")
    story.round(0, "accept", {"1024x512": 2e-5}, environment=seq)
    report = text(story, BASELINE)
    assert "| 1024x512 | a:v0:1024x512 | 100 | 20 |" in report
    assert "NVIDIA T10 48GB, driver 1.2" in report
    assert "- memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:L" in report
    assert "| 1024x512 | 5 | 10 | 1.5 |" in report


def test_each_round_has_its_headings(played):
    """A rollback has an analysis, an accepted round has none."""
    accepted = text(played, "rounds/round-2/summary.md")
    heads = [line for line in accepted.split("\n") if line.startswith("## ")]
    assert heads == [
        "## Hypothesis", "## Single change", "## Results", "## Decision", "## Attribution", "## Next direction",
        "## Machine", "## Notes",
    ]  # fmt: skip
    assert "ACCEPTED\n" in accepted and "throughput against v0 (as timed in its own round): 2×" in accepted
    failed = text(played, "rounds/round-3/summary.md")
    assert "## Rollback Analysis" in failed and "root cause: `correctness: correctness says fail`" in failed


def test_words_are_quoted_and_directions_listed(played):
    """A note can't open a section of its own."""
    played.say(
        "memory_noted",
        '{"direction": "persist", "rationale": "few rows"}',
        version=3,
        field="open_directions",
        by="ann",
    )
    played.say("note_added", "# My heading", topic="tip", by="ann")
    summary = text(played, "rounds/round-4/summary.md")
    assert "- persist: few rows" in summary
    assert "> # My heading" in summary and "\n# My heading" not in summary
    assert "> direction: persist" in summary
    assert "- persist" in text(played, OPTIMIZE)


def test_an_attempt_has_one_number_everywhere(played):
    """Attempt n is n in every table, heading and memory; n + 1 is in the names of folders alone."""
    files = texts_of(played.workspace.state(), played.store.get).files
    told = 0
    for path, body in files.items():
        for line in body.split("\n"):
            idea = re.search(r"\bidea (\d)", line)
            if line.startswith("|") and idea:
                cells = {cell.strip() for cell in line.split("|")}
                assert cells & {idea[1], f"v{idea[1]}"} and not cells & {str(int(idea[1]) + 1), f"v{int(idea[1]) + 1}"}
                told += 1
        unplaced = re.sub(r'rounds/round-\d+/|"round": "round-\d+"', "", body)
        assert not re.search(r"\bround-\d", unplaced), path
    assert told == 8
    for number in range(4):
        assert f"# Attempt {number} (v{number})\n" in files[f"rounds/round-{number + 1}/summary.md"]
        memory = json.loads(files[f"memory/v{number}.json"])
        assert (memory["version"], memory["round"]) == (f"v{number}", f"round-{number + 1}")


def test_masked_rounds_are_left_out(played):
    """Of the log wholly, of the summary all but the fact."""
    played.add("memory_masked", versions=[2], reason="x", seed=None)
    assert "idea 2" not in text(played, "rounds/round-3/summary.md")
    log = text(played, OPTIMIZE)
    assert "idea 2" not in log and "Masked and left out: v2." in log


def test_the_log_names_the_best_and_the_ineffective(played):
    """v1 stands; v2 and v3 are listed with their reason."""
    log = text(played, OPTIMIZE)
    assert "## Current Best\n\nv1\n" in log
    assert "| idea 2 | v2 | `correctness: correctness says fail` |" in log
    assert "| idea 3 | v3 | `R3` |" in log
    assert "- ROLLBACK: 2" in log


def test_an_unverified_round_names_the_gate_that_was_missing(story):
    """Unavailable is no pass."""
    story.round(1, "unverified", gates={"evidence": "unavailable"})
    assert "root cause: `evidence: evidence says unavailable`" in text(story, "rounds/round-2/summary.md")


def test_simulated_times_are_declared(story, samples):
    """In every report; the end is named."""
    seq = story.machine("simulator")
    story.round(0, "accept", {"1024x512": 2e-5}, environment=seq)
    story.add("stopped", **samples["stopped"])
    for path in (BASELINE, OPTIMIZE, "rounds/round-1/summary.md"):
        assert "SIMULATED" in text(story, path)
    assert "status: stopped: target" in text(story, OPTIMIZE)
