"""Between rounds: events of choices, a ledger that has to be closed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.insights import open_entries
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.tuning.measuring import Measuring
from tests.kopt_kb.tuning.test_accounting import SETTINGS, campaign


def test_every_round_says_why_its_category_was_chosen(workspace: Workspace, wiki_root: Path) -> None:
    """One event a round after the baseline, before its hypothesis, which names it as evidence."""
    with campaign(workspace, wiki_root, Measuring(), rounds=2) as tuned:
        tuned.run()
    events = workspace.events()
    chosen = {event.data.round: event for event in events if event.kind == "category_chosen"}
    stated = {event.data.round: event.data for event in events if event.kind == "hypothesis_stated"}
    assert set(chosen) == set(stated) == {1, 2}
    for number, event in chosen.items():
        assert event.data.category == stated[number].category
        assert event.seq in stated[number].evidence
        summary = workspace.layout.root / f"rounds/round-{number + 1}/summary.md"
        assert "limits (" in summary.read_text()


def test_a_version_has_one_number_in_every_view(workspace: Workspace, wiki_root: Path) -> None:
    """Version n is n in trend, memory and plans; n + 1 names folders of rounds/ alone."""
    with campaign(workspace, wiki_root, Measuring(), rounds=2) as tuned:
        tuned.run()
    root = workspace.layout.root
    trend = (root / "logs/performance_trend.md").read_text()
    for number in (0, 1, 2):
        assert f"| v{number} " in trend
        assert json.loads((root / f"memory/v{number}.json").read_text())["version"] == f"v{number}"
        assert (root / f"rounds/round-{number + 1}").is_dir()
    assert [one.name for one in sorted((root / "plans").glob("v*_plan.md"))] == ["v1_plan.md", "v2_plan.md"]
    texts = {str(one.relative_to(root)): one.read_text() for one in root.rglob("*.md") if "rounds" not in one.parts}
    assert "logs/performance_trend.md" in texts
    assert not [name for name, text in texts.items() if "v3" in text]


class Nobody:
    """Has no idea."""

    name = "nobody"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Propose nothing, but look."""
        assert view.known.limiters == ("dram",)
        return None


def test_a_policy_may_refuse_to_end_while_the_ledger_is_open(
    workspace: Workspace, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody has a hypothesis: refused with what is open; dismissed one by one by a person it ends."""
    policy = replace(policy_named("gpu-wiki", close_ledger=True), least_trust="unstated")
    options = CampaignOptions(platform=Registry.open(wiki_root).platform("T10"))
    own = (workspace, policy, (Nobody(),), Measuring())
    with (
        Campaign(*own, settings=SETTINGS, options=options) as tuned,
        pytest.raises(BadInput, match="are open") as caught,
    ):
        tuned.run()
    assert caught.value.error_code == "KB461"
    assert workspace.state().stopped is None
    assert workspace.state().blocked is not None
    root = str(workspace.layout.root)
    for entry in open_entries(workspace.state()):
        words = ["--opportunity", entry.opportunity.id, "--reason", "measured: no gain", "--by", "ann"]
        assert main(["tune", "dismiss", root, *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["reason"] == "measured: no gain (ann)"
    with Campaign(*own, settings=SETTINGS, options=options) as tuned:
        assert tuned.run().stop is not None
    assert workspace.state().stopped is not None
    assert workspace.state().stopped.reason == "exhausted"  # type: ignore[union-attr]
    assert main(["tune", "dismiss", root, "--opportunity", "v9:x", "--reason", "a"]) == 2
    assert "is in no ledger of the best version" in capsys.readouterr().err


def test_the_plain_policy_ends_with_open_opportunities_and_shows_them(
    workspace: Workspace, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report lists what is left; a budget always ends."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run(Budget(rounds=1))
    assert main(["tune", "report", str(workspace.layout.root), "--json"]) in {0, 1}
    body = json.loads(capsys.readouterr().out)
    assert body["ledger"]
    assert {one["state"] for one in body["ledger"]} <= {"untried", "unexplained", "infeasible", "closed", "dismissed"}
    assert body["next"] == "rest"
    assert body["gates"] == []
    assert "## Ledger" in (workspace.layout.root / "logs" / "optimize.md").read_text()
