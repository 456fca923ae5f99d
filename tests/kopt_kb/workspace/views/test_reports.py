"""Reports: the baseline, a summary a round, the optimization log."""

from __future__ import annotations

from kopt_kb.workspace.views.reports import BASELINE_VIEW, OPTIMIZE_VIEW, ROUNDS_VIEW


def text(story, view, path=None):
    """One rendered file."""
    made = view.render(story.workspace.events(), story.store.get)
    return made[path] if path else next(iter(made.values()))


def test_the_baseline_report_comes_with_the_baseline(story):
    """Not before it is measured; then with machine, records and cited values."""
    assert BASELINE_VIEW.render(story.workspace.events(), story.store.get) == {}
    seq = story.machine()
    story.add("noise_measured", shape="1024x512", n=5, median_s=1e-5, mad_s=1e-7, floor_pct=1.5, run="r")
    story.round(0, "accept", {"1024x512": 2e-5}, environment=seq)
    report = text(story, BASELINE_VIEW)
    assert "| 1024x512 | a:v0:1024x512 | 100 | 20 |" in report
    assert "T10 board, driver 1.2" in report
    assert "- memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:L" in report
    assert "| 1024x512 | 5 | 10 | 1.5 |" in report


def test_each_round_has_its_headings(played):
    """A rollback has an analysis, an accepted round has none."""
    accepted = text(played, ROUNDS_VIEW, "rounds/round-2/summary.md")
    heads = [line for line in accepted.split("\n") if line.startswith("## ")]
    assert heads == [
        "## Hypothesis", "## Single change", "## Results", "## Decision", "## Attribution", "## Next direction",
        "## Machine", "## Notes",
    ]  # fmt: skip
    assert "ACCEPTED\n" in accepted and "throughput against v0 (as timed in its own round): +100.000%" in accepted
    failed = text(played, ROUNDS_VIEW, "rounds/round-3/summary.md")
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
    summary = text(played, ROUNDS_VIEW, "rounds/round-4/summary.md")
    assert "- persist: few rows" in summary
    assert "> # My heading" in summary and "\n# My heading" not in summary
    assert "> direction: persist" in summary
    assert "- persist" in text(played, OPTIMIZE_VIEW)


def test_masked_rounds_are_left_out(played):
    """Of the log wholly, of the summary all but the fact."""
    played.add("memory_masked", versions=[2], reason="x", seed=None)
    assert "idea 2" not in text(played, ROUNDS_VIEW, "rounds/round-3/summary.md")
    log = text(played, OPTIMIZE_VIEW)
    assert "idea 2" not in log and "Masked and left out: v2." in log


def test_the_log_names_the_best_and_the_ineffective(played):
    """v1 stands; v2 and v3 are listed with their reason."""
    log = text(played, OPTIMIZE_VIEW)
    assert "v1 (round-2)" in log
    assert "| idea 2 | v2 | `correctness: correctness says fail` |" in log
    assert "| idea 3 | v3 | `R3` |" in log
    assert "- ROLLBACK: 2" in log


def test_an_unverified_round_names_the_gate_that_was_missing(story):
    """Unavailable is no pass."""
    story.round(1, "unverified", gates={"evidence": "unavailable"})
    assert "root cause: `evidence: evidence says unavailable`" in text(story, ROUNDS_VIEW, "rounds/round-2/summary.md")


def test_simulated_times_are_declared(story, samples):
    """In every report; the end is named."""
    seq = story.machine("simulator")
    story.round(0, "accept", {"1024x512": 2e-5}, environment=seq)
    story.add("stopped", **samples["stopped"])
    for view in (BASELINE_VIEW, OPTIMIZE_VIEW, ROUNDS_VIEW):
        assert "SIMULATED" in text(story, view)
    assert "status: stopped: target" in text(story, OPTIMIZE_VIEW)
