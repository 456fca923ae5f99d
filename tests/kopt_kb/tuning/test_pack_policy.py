"""A campaign under a policy of a pack, with a gate and a stop reason of its own: with the pack, and then without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kopt_strange.pack import PACK

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.main import main
from kopt_kb.packs.memory_form.pack import PACK as FORM
from kopt_kb.tuning.machine import EXITS, State, exits
from kopt_kb.tuning.policy import policy_named
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.conftest import OnlyPacks


@pytest.fixture
def slept(make_campaign, workspace: Workspace, only_packs: OnlyPacks) -> Workspace:
    """A campaign that a pack's policy ended."""
    only_packs(PACK, FORM)
    with make_campaign(workspace, "dreams", rounds=8) as campaign:
        campaign.run()
    return workspace


def test_its_gate_judges_and_its_reason_ends(slept: Workspace, wiki_root: Path) -> None:
    """In their places; views have the pack's words, and the audit renders them again."""
    state = slept.state()
    assert state.stopped is not None
    assert (state.stopped.reason, len(state.rounds)) == ("strange.tired", 4)
    gates = list(state.attempts[0].gates)
    assert gates.index("strange.rested") == gates.index("build") + 1
    first = state.attempts[1]
    assert first.decided is not None
    assert (first.decided.rule, list(first.gates)[-1]) == ("gate strange.rested", "strange.rested")
    assert first.gates["strange.rested"].result == "fail"
    root = slept.layout.root
    assert "slept through round 2" in (root / "rounds/round-3/summary.md").read_text()
    assert "slept through 4 rounds" in (root / "logs/optimize.md").read_text()
    found = audit(root, Registry.open(wiki_root))
    assert found.clean
    assert "absent-pack" not in {one.code for one in found.notes}


def test_a_pack_s_reason_ends_a_campaign_where_every_reason_does(slept: Workspace) -> None:
    """And only one that the policy names."""
    state = slept.state()
    state.stopped = None
    assert "strange.tired" in exits(state, policy_named("dreams"))
    assert "strange.tired" not in exits(state, policy_named("gpu-wiki"))
    assert not any("." in reason for reasons in EXITS.values() for reason in reasons)
    assert EXITS[State.REPORT] == frozenset()


def test_without_the_pack_all_is_read(
    slept: Workspace, wiki_root: Path, only_packs: OnlyPacks, capsys, tmp_path
) -> None:
    """Audit, status, report, render and bundle; the audit says what it could not check."""
    root = str(slept.layout.root)
    only_packs(FORM)
    found = audit(root, Registry.open(wiki_root))
    assert found.clean
    notes = [one for one in found.notes if one.code == "absent-pack"]
    assert "policy dreams needs the pack strange" in notes[0].message
    assert "logs/optimize.md" in notes[1].message
    assert len(notes) == 2
    for words in (["tune", "status", root], ["tune", "report", root], ["audit", root], ["render", root]):
        assert main(words) in {ExitCode.OK, ExitCode.FINDING}, words
    assert main(["tune", "bundle", root, "--output", str(tmp_path / "slept.kbb")]) == ExitCode.OK
    assert main(["audit", str(tmp_path / "slept.kbb"), "--wiki", str(wiki_root)]) == ExitCode.OK
    assert "pack strange, which is not installed" in capsys.readouterr().out
    assert audit(root, Registry.open(wiki_root)).clean


def test_without_the_pack_nothing_goes_on(make_campaign, workspace: Workspace, only_packs: OnlyPacks, capsys) -> None:
    """An open campaign says which pack it needs, and stays as it is; it can be stopped."""
    only_packs(PACK, FORM)
    with make_campaign(workspace, "dreams", rounds=8) as campaign:
        for _ in range(8):
            campaign.step()
    before = workspace.layout.journal.read_bytes()
    only_packs(FORM)
    for words in (["resume"], ["step"], ["run", "--simulate", "--yes"]):
        assert main(["tune", words[0], str(workspace.layout.root), *words[1:]]) == ExitCode.MISSING
        told = capsys.readouterr().err
        assert "the open campaign needs the pack strange, which is not installed" in told
    assert workspace.layout.journal.read_bytes() == before
    assert main(["tune", "run", str(workspace.layout.root), "--policy", "dreams", "--yes"]) != ExitCode.OK
