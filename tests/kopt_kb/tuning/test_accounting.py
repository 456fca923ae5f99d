"""Where the time of accepted versions goes, through a campaign."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.launch.candidate.answers import ReportEvidence
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.machine import lacks_account
from kopt_kb.tuning.options import Budget, CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposers import VariantsProposer
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.setup_events import ProfileRead
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.tuning.measuring import Measuring

SETTINGS = Settings(samples=10, evaluations=3, search_s=600.0)


def campaign(
    workspace: Workspace, wiki_root: Path, executor: SimulatorExecutor, rounds: int = 1, goes_past: str = ""
) -> Campaign:
    """A campaign whose decisions rest on whatever the executor gives; one stop reason may be left out."""
    policy = replace(policy_named("gpu-wiki", max_rounds=rounds), least_trust="unstated")
    policy = replace(policy, stop_reasons=tuple(one for one in policy.stop_reasons if one != goes_past))
    options = CampaignOptions(product_of=lambda _: "T10", platform=Registry.open(wiki_root).platform("T10"))
    return Campaign(workspace, policy, (VariantsProposer(),), executor, settings=SETTINGS, options=options)


def test_every_accepted_version_is_accounted_for_once(workspace: Workspace, wiki_root: Path) -> None:
    """One event a shape after each snapshot; parts sum to the gap; the profiled shape has a part by its bytes."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run()
    state = workspace.state()
    accepted = [one.number for one in state.rounds if one.accepted]
    seen = [(one.version, one.gap.name) for one in state.gaps.values()]
    assert accepted == [0, 1]
    assert seen == [(number, shape) for number in accepted for shape in ("8192x4096", "1024x512")]
    assert state.best is not None
    gaps = state.gaps_of(state.best)
    for gap in gaps.values():
        assert sum(one.share_pct for one in gap.parts) == pytest.approx(100.0)
        assert gap.basis == "documented"
    shape = next(event.gap.name for event in state.gaps.values() if event.profiles and event.version == 1)
    extra = next(one for one in gaps[shape].parts if one.cause == "extra-bytes")
    assert extra.seconds == pytest.approx(0.5 * gaps[shape].roof_s)  # half again the bytes
    assert not lacks_account(state)


def test_report_readme_and_logs_show_it(
    workspace: Workspace, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON and text of the report, the README's roofline, the log and the round's summary."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run()
    root = workspace.layout.root
    main(["tune", "report", str(root), "--json"])
    gaps = json.loads(capsys.readouterr().out)["gaps"]
    assert [one["name"] for one in gaps] == ["8192x4096", "1024x512"]
    main(["tune", "report", str(root)])
    out = capsys.readouterr().out
    assert "Where the time of v1 goes" in out
    assert "Record next: " in out  # one shape has no profile
    assert "- v1, 8192x4096: " in (root / "README.md").read_text()
    for view in ("logs/optimize.md", "rounds/round-2/summary.md"):
        assert "% of the roof of dram" in (root / view).read_text(), view
    assert main(["audit", str(root), "--json"]) in {0, 1}
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert not [one for one in findings if one["code"] not in {"no-commit", "open-field", "times"}], findings


def test_a_profile_of_other_launches_explains_nothing(workspace: Workspace, wiki_root: Path) -> None:
    """Launches that took five times as long as the timed call are not those of it: a note says so."""
    with campaign(workspace, wiki_root, Measuring(slower=5.0)) as tuned:
        tuned.run()
    notes = [note for event in workspace.state().gaps.values() for note in event.gap.notes]
    assert any("they are not those of the timed call" in one for one in notes)
    assert not any(event.profiles for event in workspace.state().gaps.values())


class Together(Measuring):
    """Profiles all shapes in one report, as a project's command that takes no shapes does."""

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer as before."""
        found = super().run(job, started)
        is_report = isinstance(found.result, ReportEvidence)
        return replace(found, result=replace(found.result, shape="all")) if is_report else found


def test_a_profile_of_all_shapes_is_of_none(workspace: Workspace, wiki_root: Path) -> None:
    """Nothing is charged by it, the account says why and what to change; the verdict is in force all the same."""
    with campaign(workspace, wiki_root, Together()) as tuned:
        tuned.run(Budget(rounds=0))
    notes = [note for event in workspace.state().gaps.values() for note in event.gap.notes]
    assert sum("of all shapes together" in one and "{shapes}" in one for one in notes) == 2
    assert workspace.state().limiter


def test_a_profile_that_ran_otherwise_says_so(workspace: Workspace, wiki_root: Path) -> None:
    """15 % less time under the profiler: its launches are those of the timed call, its shares are scaled, a note."""
    with campaign(workspace, wiki_root, Measuring(slower=0.85)) as tuned:
        tuned.run(Budget(rounds=0))
    noted = [one.gap.notes[-1] for one in workspace.state().gaps.values() if one.profiles]
    assert noted
    assert all("the profiled launches took" in one and "the timed ones" in one for one in noted)


def test_simulated_times_are_never_held_against_a_roof(workspace: Workspace, wiki_root: Path) -> None:
    """A simulated campaign has no account, and nothing is missing."""
    with campaign(workspace, wiki_root, SimulatorExecutor()) as tuned:
        report = tuned.run()
    assert workspace.state().gaps == {}
    assert report.gaps == ()


def test_a_kill_between_two_accounts_is_made_good(workspace: Workspace, wiki_root: Path) -> None:
    """With the first shape's event alone the step is due again, and appends the second's only."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        while not workspace.state().gaps:
            tuned.step()
    lines = workspace.layout.journal.read_bytes().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if b'"kind":"gap_accounted"' in line)
    workspace.layout.journal.write_bytes(b"".join(lines[: first + 1]))
    for view in workspace.layout.root.rglob("*.md"):
        view.unlink()  # views know a later event than the cut journal
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        assert lacks_account(tuned.state())
        tuned.step()
        assert not lacks_account(tuned.state())
        assert [event.gap.name for event in tuned.state().gaps.values()] == ["8192x4096", "1024x512"]


def test_what_was_rolled_back_limits_nobody(workspace: Workspace, wiki_root: Path) -> None:
    """The limiter in force is of the best version's own profile; without one there is none."""
    with campaign(workspace, wiki_root, Measuring(profiles=False)) as tuned:
        tuned.run()
        assert tuned.state().limiter == ""
        best = tuned.state().best
        assert best is not None
        assert best.snapshot is not None
        for kernel, code in ((best.snapshot.blob, "memory-bound: dram"), ("0" * 64, "compute-bound: tensor")):
            workspace_journal_append(tuned, ProfileRead("1" * 64, "ncu", kernel, code, ()))
        assert tuned.state().limiter == "memory-bound: dram"


def workspace_journal_append(tuned: Campaign, event: ProfileRead) -> None:
    """Append an event as the open campaign does."""
    tuned._open().append(event)
