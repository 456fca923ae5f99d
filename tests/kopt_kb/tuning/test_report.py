"""The report repeats what the journal says, and says when nothing was measured."""

from __future__ import annotations

import json
import math

import pytest

from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.report import report_of, stated_targets
from kopt_kb.workspace.workspace import Workspace


def test_report_of_a_simulated_campaign(workspace: Workspace, make_campaign) -> None:
    """Baseline and best of every shape, gain against the incumbent in each round, plain JSON."""
    with make_campaign(workspace, rounds=2) as campaign:
        campaign.run()
        report = campaign.report()
    assert set(report.baseline_s) == set(report.best_s) == {"8192x4096", "1024x512"}
    assert report.rounds[0].gain_pct is None
    assert report.rounds[1].gain_pct is not None
    assert json.loads(json.dumps(report.to_json()))["simulated"] is True
    assert (report.route, report.baseline) == ("kernel", "v0")
    assert "rooflines" not in report.to_json()
    assert report.to_json()["stop_conditions"] == "not evaluable"
    assert report.to_json()["why_not_evaluable"] == report.why_not == "the times are simulated"


def test_report_before_anything(workspace: Workspace, make_campaign) -> None:
    """No rounds, no gain, no stop."""
    with make_campaign(workspace) as campaign:
        report = report_of(campaign.state(), policy_named("gpu-wiki"))
    assert (report.state, report.rounds, report.gain_pct, report.stop) == ("DEFINE_TARGET", (), None, None)
    assert (report.baseline, report.baseline_s) == ("", {})


def test_targets_are_told_as_text(workspace: Workspace) -> None:
    """One a shape and the aggregate."""
    found = {one.shape: one.condition for one in stated_targets(workspace.state())}
    assert found == {
        "8192x4096": "bandwidth >= 1.8 TB/s", "1024x512": "bandwidth >= 1.8 TB/s", "all": "aggregate >= 1",
    }  # fmt: skip


NOTED = "accept_with_note"


@pytest.mark.parametrize(
    ("op", "stop", "decisions", "met", "geomean"),
    [
        ("gemm", "budget", ["accept"] * 4 + ["rollback"] * 6, [True, True], 1.0546),
        (
            "rms_norm",
            "exhausted",
            ["accept", "accept", NOTED, "rollback", NOTED, NOTED, "rollback"],
            [True, True, True],
            1.0687,
        ),
        ("rms_norm_2", "budget", ["accept"] * 2 + ["rollback"] * 5, [True, True, True], 1.1021),
        ("softmax_2", "target", ["accept"] * 3, [True, True, True], 1.0790),
        ("softmax", "budget", ["accept"] * 5 + ["rollback", "accept"], [True, True, False], 1.0448),
    ],
)
def test_report_of_the_recorded_campaigns(repo_root, op, stop, decisions, met, geomean) -> None:
    """The measured campaigns kept in the repository: stop reason, decisions, shapes met, geomean of the ratios."""
    kept = Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op)
    state = kept.state()
    report = report_of(state, policy_named("gpu-wiki"))
    assert report.stop is not None and report.stop.reason == stop
    assert report.conditions is not None
    assert [one.decision for one in report.rounds] == decisions
    assert report.conditions.all_met is all(met)
    assert [one.met for one in report.conditions.judged] == met
    ratios = [one.ratio for one in report.conditions.judged]
    assert math.prod(ratios) ** (1 / len(ratios)) == pytest.approx(geomean, abs=5e-4)
    assert report.simulated is False
