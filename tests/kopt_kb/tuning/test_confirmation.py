"""Quick rounds of whole campaigns: when they go to all shapes, how they are confirmed, and what a refutation undoes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaign_words import RATE, SOURCE, Make, decisions, finish, kernel, state_of

from kopt_kb.packs.memory_form.memory_edit import mask
from kopt_kb.tuning.bench import utilization
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.views.render import render_workspace


def test_no_idea_left_is_confirmed_on_all_shapes(make_project, remembered_campaign: Make) -> None:
    """What quick rounds accepted is validated on every shape before the campaign ends."""
    workspace = make_project()
    report = finish(remembered_campaign(workspace, [("double the tile", kernel(128))]))
    state = state_of(workspace)
    assert [(one.level, one.accepted) for one in state.rounds] == [("", True), ("quick", True), ("full", True)]
    assert report.stop.reason == "exhausted" and report.best == "v2"
    assert state.rounds[2].incumbent == state.rounds[0].snapshot.blob
    assert set(report.best_s) == set(report.baseline_s) and len(report.best_s) == 5


def test_a_gain_that_other_shapes_refute_is_taken_back(
    make_project, remembered_campaign: Make, wiki_root: Path
) -> None:
    """Fast where quick validation looks and slow elsewhere: the end of the campaign is the baseline again."""
    workspace = make_project()
    lopsided = kernel(64, f"{RATE}    return plain_rate(m, n, k) * (0.9 if m in (1024, 4096) else 1.5)\n")
    report = finish(remembered_campaign(workspace, [("lopsided", lopsided)]))
    state = state_of(workspace)
    assert state.rounds[1].refuted_by == 2 and not state.rounds[1].accepted
    assert decisions(workspace)[2][1:] == ("rollback", "R3 regression")
    assert report.best == "v0" and report.stop.reason == "exhausted"
    assert workspace.layout.kernel.read_text() == SOURCE
    findings = audit(workspace.layout.root, Registry.open(wiki_root)).findings
    assert {one.code for one in findings} <= {"times"}  # its seconds are remembered from other runs
    assert [one.refuted for one in report.rounds] == [False, True, False]


def test_every_view_knows_what_was_refuted(make_project, remembered_campaign: Make, wiki_root: Path) -> None:
    """A refuted version is nobody's best: not in the logs, the memory, the masks or the records judged."""
    workspace = make_project()
    lopsided = kernel(64, f"{RATE}    return plain_rate(m, n, k) * (0.9 if m in (1024, 4096) else 1.5)\n")
    finish(remembered_campaign(workspace, [("lopsided", lopsided)]))
    root, history = workspace.layout.root, workspace.state()
    assert history.attempts[1].refuted_by == 2
    assert [one.status for one in history.attempts.values()] == ["baseline", "refuted", "rollback"]
    assert (history.incumbent.number, history.unmaskable()) == (0, frozenset({0}))
    log = (root / "logs/optimize.md").read_text()
    assert "v0\n" in log.split("## Current Best")[1].split("## Directions")[0]
    assert "| lopsided | v1 | `refuted by v2: R3 regression` |" in log and "REFUTED: 1" in log and "ACCEPTED: 0" in log
    trend = (root / "logs/performance_trend.md").read_text()
    assert "| v1 | REFUTED | lopsided |" in trend and "refuted by v2" in trend
    summary = (root / "rounds/round-2/summary.md").read_text()
    assert "ACCEPTED, THEN REFUTED" in summary and "## Rollback Analysis" in summary
    memory = [json.loads((root / f"memory/v{number}.json").read_text()) for number in range(3)]
    assert [one["status"] for one in memory] == ["baseline", "refuted", "rollback"]
    assert [one["experience"]["experiments"][0]["decision"] for one in memory[1:]] == ["revert", "revert"]
    assert memory[2]["performance"]["comparison_with_previous"]["version"] == "v0"
    assert memory[2]["performance"]["comparison_with_previous"]["same_round"] is True
    assert utilization(workspace, Registry.open(wiki_root)).source.version == 0
    findings = audit(root, Registry.open(wiki_root)).findings
    assert {one.code for one in findings} <= {"times"}
    mask(workspace, (1,), "it did not hold")
    render_workspace(workspace)
    findings = audit(root, Registry.open(wiki_root)).findings
    assert {one.code for one in findings} <= {"times"}


def test_what_came_between_is_refuted_too_and_compared_with_its_own_incumbent(
    make_project, remembered_campaign: Make, wiki_root: Path
) -> None:
    """Two quick rounds, one on top of the other, fall together; the second was held against the first."""
    workspace = make_project()
    answers = [
        (
            f"lopsided {fast}",
            kernel(64, f"{RATE}    return plain_rate(m, n, k) * (0.8 if m in (1024, 4096) else {fast})\n"),
        )
        for fast in (1.3, 1.6)
    ]
    finish(remembered_campaign(workspace, answers))
    history = workspace.state()
    assert [one.status for one in history.attempts.values()] == ["baseline", "refuted", "refuted", "rollback"]
    text = (workspace.layout.root / "memory/v2.json").read_text()
    assert json.loads(text)["performance"]["comparison_with_previous"]["version"] == "v1"


def test_high_risk_goes_to_full(make_project, remembered_campaign: Make) -> None:
    """The proposal's own word decides."""
    workspace = make_project()
    finish(remembered_campaign(workspace, [("double the tile", {**kernel(128), "risk": "high"})]))
    found = state_of(workspace).rounds
    assert (found[1].level, found[1].level_reason) == ("full", "the proposal says that the risk is high")
    assert len(found) == 2


def test_the_last_round_allowed_goes_to_full(make_project, remembered_campaign: Make) -> None:
    """No later round could confirm it."""
    workspace = make_project()
    report = finish(remembered_campaign(workspace, [("double the tile", kernel(128))], rounds=1))
    assert state_of(workspace).rounds[1].level == "full" and report.stop.reason == "iterations"


def test_without_a_quick_command_every_round_is_full(make_project, remembered_campaign: Make) -> None:
    """Nothing says how to benchmark fewer shapes."""
    quick = 'quick = { run = "{python} benchmark/bench_gemm.py --csv {csv} --shapes {shapes}", limit_s = 500 }'
    workspace = make_project((quick, ""))
    finish(remembered_campaign(workspace, [("double the tile", kernel(128))]))
    assert [one.level for one in state_of(workspace).rounds] == ["", ""]


def test_a_confirmation_that_could_not_be_measured_is_asked_again(
    make_project, project_campaign: Make, project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refutes nothing: the best stays, a bounded number of further rounds ask, and the next run asks once more."""
    marker, bench = tmp_path / "seen" / "broken", project_root / "benchmark" / "bench_gemm.py"
    marker.parent.mkdir()
    monkeypatch.setenv("KOPT_READABLE", str(marker.parent))
    broken = (
        f"if gemm.TILE == 64 and Path({str(marker)!r}).exists():\n        raise SystemExit('no device')\n    parser ="
    )
    bench.write_text(bench.read_text().replace("parser =", broken, 1))
    workspace = make_project()

    def say(line: str) -> None:
        if "[validation]" in line:
            marker.touch()

    answers = [("double the tile", kernel(128))]
    report = finish(project_campaign(workspace, answers, say=say))
    rounds = state_of(workspace).rounds
    claim = "v1 holds on every shape against v0"
    assert [one.hypothesis.claim for one in rounds[2:]] == [claim, f"{claim}, again"]
    assert [one.decided.decision for one in rounds[1:]] == ["accept", "unverified", "unverified"]
    assert rounds[1].refuted_by is None and report.best == "v1" and report.stop.reason == "exhausted"
    marker.unlink()
    with project_campaign(workspace, answers) as campaign:
        campaign.restart()
        report = campaign.run()
    rounds = state_of(workspace).rounds
    assert rounds[4].hypothesis.claim == f"{claim}, again (3)" and report.best == "v4" and len(rounds) == 5


def test_a_step_of_rounding_is_no_gain(make_project, remembered_campaign: Make, project_root: Path) -> None:
    """100.49 and 100.51 TFLOPS printed without decimals look like one percent, with no noise at all."""
    bench = project_root / "benchmark" / "bench_gemm.py"
    bench.write_text(bench.read_text().replace('f"{rate:.6f}"', 'f"{rate:.0f}"'))
    gemm = project_root / "ops" / "gemm.py"
    gemm.write_text(SOURCE + f"{RATE}    return 100.49\n")
    workspace = make_project()
    finish(remembered_campaign(workspace, [("rounds up", {"source": SOURCE + f"{RATE}    return 100.51\n"})]))
    state = state_of(workspace)
    assert {one.floor_pct for one in state.noise.values()} == {1.0}
    assert decisions(workspace)[1] == (1, "rollback", "noise floor (quick)")
