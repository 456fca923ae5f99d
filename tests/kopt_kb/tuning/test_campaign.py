"""A whole simulated campaign; killed between any two events it ends the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.packs.memory_form.memory_edit import Hypothesis, create_version
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.machine import State, state_of
from kopt_kb.tuning.options import Budget, CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView, RepeatedHypothesisError
from kopt_kb.wiki.devices import product_of
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.reader import read_journal
from kopt_kb.workspace.journal.round_events import (
    Decided,
    HypothesisStated,
    MemoryMasked,
    RoundStarted,
    SnapshotTaken,
)
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace


def decisions(workspace: Workspace) -> list[tuple[int, str, str]]:
    """Round, decision and rule of every decided event."""
    return [(e.data.round, e.data.decision, e.data.rule) for e in workspace.events() if isinstance(e.data, Decided)]


def finish(campaign: Campaign) -> None:
    """Run to the end and give the lock back."""
    with campaign:
        campaign.run()


@pytest.mark.parametrize("policy", ["gpu-wiki", "primus"])
def test_a_campaign_runs_to_its_end(workspace: Workspace, make_campaign, policy: str) -> None:
    """Baseline first, then rounds with one hypothesis each; the stop says why; the kernel is the last accepted one."""
    with make_campaign(workspace, policy) as campaign:
        report = campaign.run()
    assert report.state == "REPORT"
    assert report.stop is not None and report.stop.reason == "iterations"
    assert report.simulated and report.conditions is None
    assert report.to_json()["stop_conditions"] == "not evaluable"
    found = decisions(workspace)
    assert [number for number, _, _ in found] == [0, 1, 2, 3, 4]
    assert found[0] == (0, "accept", "baseline")
    assert found[1][1].startswith("accept")
    assert report.gain_pct is not None and report.gain_pct > 30
    last = [e.data for e in workspace.events() if isinstance(e.data, SnapshotTaken)][-1]
    assert workspace.layout.kernel.read_bytes() == ObjectStore(workspace.layout.objects).get(last.blob)
    assert last.commit


def test_every_round_states_its_hypothesis_before_its_candidate(workspace: Workspace, make_campaign) -> None:
    """Order of events: round, hypothesis, candidate, decision; claims differ."""
    finish(make_campaign(workspace))
    events = workspace.events()
    claims = [e.data.claim for e in events if isinstance(e.data, HypothesisStated)]
    assert len(set(claims)) == len(claims) == 4
    for number in (1, 2, 3, 4):
        kinds = [e.kind for e in events if getattr(e.data, "round", None) == number and e.kind != "review_held"]
        assert kinds[:4] == ["round_started", "proposal_made", "category_chosen", "hypothesis_stated"]
        assert kinds[-1] == "decided"


def test_rollback_continues_from_the_last_accepted_version(workspace: Workspace, make_campaign) -> None:
    """After a rollback the next round starts from the blob of the last snapshot, not from the failed one."""
    with make_campaign(workspace, rounds=8) as campaign:
        campaign.run()
    current = ""
    seen_rollback = False
    for event in workspace.events():
        if isinstance(event.data, RoundStarted) and event.data.round:
            assert event.data.incumbent == current
        elif isinstance(event.data, SnapshotTaken):
            current = event.data.blob
        elif isinstance(event.data, Decided):
            seen_rollback |= event.data.decision == "rollback"
    assert seen_rollback


def test_cut_after_any_event_and_resumed_it_decides_the_same(
    tmp_path: Path, workspace: Workspace, make_campaign
) -> None:
    """For each prefix of the journal, a new campaign object ends with equal decisions and kernel."""
    root = workspace.layout.root
    readme = shutil.copy(root / "README.md", tmp_path / "README.md")
    finish(make_campaign(workspace, rounds=2))
    wanted, kernel = decisions(workspace), workspace.layout.kernel.read_bytes()
    lines = workspace.layout.journal.read_bytes().splitlines(keepends=True)
    first = next(at for at, e in enumerate(workspace.events()) if e.kind == "campaign_confirmed")
    copy = tmp_path / "copy"
    for cut in range(first, len(lines)):
        shutil.rmtree(copy, ignore_errors=True)
        # A process killed there has rendered nothing later: the copy leaves the rendered files out.
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git", "v*.json", "*.md"))
        shutil.copy(readme, copy / "README.md")
        (copy / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        if not any(b'"round_started"' in line for line in lines[:cut]):
            shutil.copy(root / "objects" / workspace.state().created.kernel, copy / "kernel.py")
            (copy / "kernel.py").chmod(0o644)
        resumed = Workspace.open(copy)
        finish(make_campaign(resumed, rounds=2))
        assert decisions(resumed) == wanted, f"cut after event {cut}"
        assert (copy / "kernel.py").read_bytes() == kernel


def test_steps_name_the_states_in_order(workspace: Workspace, make_campaign) -> None:
    """The states of the design, in their order, and REPORT stays REPORT."""
    seen: list[State] = []
    with make_campaign(workspace, rounds=1) as campaign:
        while (state := campaign.step()) is not State.REPORT:
            if not seen or seen[-1] is not state:
                seen.append(state)
        assert campaign.step() is State.REPORT
    order = ["PREPARE_ENVIRONMENT", "READ_HISTORICAL_TIPS", "BASELINE", "ACCEPT", "OPTIMIZE", "VALIDATE", "ACCEPT"]
    assert [one.value for one in seen] == order


class Fixed:
    """Says the same hypothesis every time."""

    name = "fixed"

    def __init__(self, source: bytes = b"") -> None:
        self.source = source

    def propose(self, view: ProposerView) -> Proposal:
        return Proposal("caching", "Keep  the weight in cache", "less time", self.name, self.source or view.incumbent)


def fixed_campaign(workspace: Workspace, proposers: Sequence[Fixed]) -> Campaign:
    """A simulated campaign with other proposers."""
    return Campaign(workspace, policy_named("primus"), proposers, SimulatorExecutor(), settings=Settings(samples=5))


def test_a_repeated_hypothesis_is_refused_with_its_round(workspace: Workspace) -> None:
    """The second time it is refused and nothing is written; once its version is masked it may be said again."""
    with fixed_campaign(workspace, [Fixed()]) as campaign:
        with pytest.raises(RepeatedHypothesisError, match="round 1 tried this"):
            campaign.run()
        count = len(workspace.events())
        with pytest.raises(RepeatedHypothesisError):
            campaign.step()
        assert len(workspace.events()) == count
        assert campaign._session is not None
        campaign._session.append(MemoryMasked((1,), "try again", None))
        campaign.step()
    assert [e.data.round for e in workspace.events() if isinstance(e.data, RoundStarted)] == [0, 1, 2]


def test_a_library_call_is_rolled_back_before_anything_runs(workspace: Workspace, naive: Path) -> None:
    """The lint gate fails, no later gate is judged, and the kernel stays."""
    cheat = naive.read_bytes() + b"\n\ndef launch(x, weight, *, config=None, out=None):\n    return torch.rms_norm(x)\n"
    with fixed_campaign(workspace, [Fixed(cheat)]) as campaign, pytest.raises(RepeatedHypothesisError):
        campaign.run()
    assert decisions(workspace)[1] == (1, "rollback", "gate lint")
    assert [e.data.gate for e in workspace.events() if e.kind == "gate_judged" and e.data.candidate == "v1"] == ["lint"]
    assert workspace.layout.kernel.read_bytes() == naive.read_bytes()


def test_no_hypothesis_left_is_exhausted(workspace: Workspace) -> None:
    """Without proposers the campaign ends after the baseline with that reason, and the evidence names the baseline."""
    with fixed_campaign(workspace, []) as campaign:
        report = campaign.run()
    assert report.stop is not None
    assert report.stop.reason == "exhausted"
    assert workspace.events()[report.stop.evidence[0] - 1].kind == "decided"


def test_a_budget_of_rounds_stops_and_a_new_run_continues(workspace: Workspace, make_campaign) -> None:
    """Stopped by budget; the rounds stay."""
    with make_campaign(workspace) as campaign:
        report = campaign.run(Budget(rounds=1))
    assert report.stop is not None
    assert (report.stop.reason, len(report.rounds)) == ("budget", 2)


def test_another_policy_may_not_continue_the_campaign(workspace: Workspace, make_campaign) -> None:
    """What was confirmed at the start holds until the end."""
    with make_campaign(workspace) as campaign:
        campaign.step()
    with make_campaign(workspace, policy="primus") as other, pytest.raises(BadInput, match="policy gpu-wiki"):
        other.step()


def test_a_hand_edit_of_the_kernel_is_never_overwritten(workspace: Workspace, make_campaign) -> None:
    """The next round refuses and names the file; nothing is lost."""
    with make_campaign(workspace) as campaign:
        while campaign.step() is not State.ACCEPT or workspace.events()[-1].kind != "snapshot_taken":
            pass
        workspace.layout.kernel.write_text("edited = True\n")
        with pytest.raises(BadInput, match="edited by hand"):
            campaign.step()
    assert workspace.layout.kernel.read_text() == "edited = True\n"


def test_records_of_a_simulation_say_so(workspace: Workspace, make_campaign) -> None:
    """Environment, runs and records carry the word; no event of a simulation can be taken for a measurement."""
    finish(make_campaign(workspace, rounds=1))
    events = read_journal(workspace.layout.journal)
    assert [e.data.device for e in events if e.kind == "environment_recorded"] == ["simulator"]
    assert all(e.data.run.startswith("sim-") for e in events if e.kind in {"run_started", "measured", "noise_measured"})


def test_a_spent_budget_does_not_hide_a_better_reason(workspace: Workspace, make_campaign) -> None:
    """When the limit of rounds is reached too, the campaign ends for that reason."""
    with make_campaign(workspace, rounds=1) as campaign:
        report = campaign.run(Budget(rounds=1))
    assert report.stop is not None
    assert report.stop.reason == "iterations"


def test_rounds_begun_by_hand_are_left_alone(workspace: Workspace, make_campaign) -> None:
    """The loop refuses them in one line, instead of working on a round that has no proposal."""
    create_version(workspace, stated=Hypothesis("memory_access", "wider loads", "fewer instructions"))
    before = len(workspace.events())
    with make_campaign(workspace) as campaign, pytest.raises(BadInput, match="begun by hand"):
        campaign.run()
    assert len(workspace.events()) == before


def test_views_follow_the_journal(workspace: Workspace, make_campaign) -> None:
    """After the last step nothing is left to render."""
    finish(make_campaign(workspace))
    assert (workspace.layout.root / "logs" / "performance_trend.md").is_file()
    report = render_workspace(workspace)
    assert not report.written and not report.kept


def test_an_edited_view_is_kept_and_named(workspace: Workspace, make_campaign) -> None:
    """The campaign goes on, names the blob that keeps the edit, and renders again."""
    with make_campaign(workspace) as campaign:
        campaign.run(Budget(rounds=1))
    trend = workspace.layout.root / "logs" / "performance_trend.md"
    trend.write_text(trend.read_text() + "my note\n")
    said: list[str] = []
    with make_campaign(workspace, say=said.append) as campaign:
        campaign.restart()
        campaign.run()
    assert "my note" not in trend.read_text()
    (line,) = [one for one in said if "was edited" in one]
    blob = workspace.layout.objects / line.partition("objects/")[2].partition(",")[0]
    assert blob.read_text().endswith("my note\n")


def test_a_mask_set_by_hand_hides_a_round_from_proposers(workspace: Workspace, make_campaign) -> None:
    """As one set by an event does."""
    with make_campaign(workspace) as campaign:
        campaign.run()
        rolled_back = next(e.data.round for e in workspace.events() if getattr(e.data, "decision", "") == "rollback")
        file = workspace.layout.root / f"memory/v{rolled_back}.json"
        entry = json.loads(file.read_text())
        file.write_text(json.dumps({**entry, "masked": True}))
        assert rolled_back in campaign.state().masked


def test_a_view_that_cannot_be_written_stops_no_campaign(
    workspace: Workspace, make_campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal is the truth; the campaign says it and ends as always."""

    def refuse(*_: object, **__: object) -> None:
        raise BadInput("the disk refuses")

    monkeypatch.setattr("kopt_kb.workspace.views.render.render_workspace", refuse)
    said: list[str] = []
    with make_campaign(workspace, say=said.append) as campaign:
        assert campaign.run().state == "REPORT"
    assert any("the disk refuses" in one for one in said)


class OnBoard(SimulatorExecutor):
    """The simulator under the name of a device, as if it had measured."""

    simulated = False
    trust = "replayed"

    def __init__(self, device: str) -> None:
        self.device = device

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer as the simulator does, but for the device."""
        found = super().run(job, started)
        named = replace(found.result, device=self.device) if job.kind == "environment" else found.result
        return replace(found, result=named)


@pytest.mark.parametrize(("device", "refused"), [("NVIDIA T10 48GB", False), ("NVIDIA T99", False), ("T10 Pro", True)])
def test_the_device_has_to_be_the_product(workspace: Workspace, wiki_root: Path, device: str, refused: bool) -> None:
    """Another product of the wiki is refused by name; one that no page knows runs without conditions."""
    said: list[str] = []
    options = CampaignOptions(product_of=partial(product_of, Registry.open(wiki_root)), say=said.append)
    with Campaign(workspace, policy_named("gpu-wiki"), (), OnBoard(device), options=options) as campaign:
        campaign.step()
        if refused:
            with pytest.raises(BadInput, match="is T10_PRO, this workspace is for T10"):
                campaign.step()
            assert state_of(campaign.state()) is State.PREPARE_ENVIRONMENT
        else:
            assert campaign.step() is State.READ_HISTORICAL_TIPS
            assert any("not evaluable" in line for line in said) == (device == "NVIDIA T99")


class Elsewhere:
    """An executor that measures, on a machine that nobody gets to."""

    name, simulated, trust = "elsewhere", False, "replayed"
    close = staticmethod(lambda: None)

    def run(self, job: Job, _: Started) -> Outcome:
        raise AssertionError(job.kind)


def test_an_open_campaign_stays_what_was_confirmed(workspace: Workspace, make_campaign) -> None:
    """Another kind of executor, or another policy, is refused before anything is written."""
    with make_campaign(workspace) as campaign:
        campaign.step()
    before = workspace.layout.journal.read_bytes()
    measured = Campaign(workspace, policy_named("gpu-wiki", max_rounds=4), (), Elsewhere())
    with measured as other, pytest.raises(BadInput, match="never share"):
        other.step()
    with make_campaign(workspace, policy="primus") as other, pytest.raises(BadInput, match="under policy gpu-wiki"):
        other.step()
    assert workspace.layout.journal.read_bytes() == before
