"""A version is accepted once its own launcher did what its record does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.cli.tune.text import render
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.jobs import Ran
from kopt_kb.tuning.launcher_gate import launcher_event, launcher_word, timed_runs
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.bundle import statement_of
from kopt_kb.workspace.journal.round_events import LauncherConfirmed, Measured
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.workspace import Workspace

MakeReplayed = Callable[..., Campaign]


@pytest.fixture
def registry(wiki_root: Any) -> Registry:
    """The invented wiki."""
    return Registry.open(wiki_root)


def test_an_accepted_version_says_that_its_launcher_was_seen(
    workspace: Workspace, replayed: MakeReplayed, replaying: Any, registry: Registry
) -> None:
    """In its event, decision, report, bundle and audit; what is not accepted is not run."""
    executor = replaying()
    with replayed(executor, 3.0, 3.5, 2.0) as campaign:
        report = campaign.run()
    rounds = workspace.state().rounds
    assert [one.decided.decision for one in rounds] == ["accept", "accept", "rollback", "accept"]
    assert [one.decided.launcher for one in rounds] == ["confirmed", "confirmed", "no", "confirmed"]
    assert executor.asked.count("launcher") == 3
    gates = [one.gates["launcher"] for one in rounds]
    assert {gates[number].reason for number in (0, 1, 3)} == {"did once, caged, what its record does"}
    assert gates[2].reason == "no launcher is run of what is not accepted (contest not faster)"
    seen = rounds[3].launcher
    assert seen is not None
    assert {one.shape for one in seen.contents} == set(workspace.state().problem.shape_names)
    assert seen.interval.keys() == seen.launches.keys()
    assert "v3: launcher: confirmed: it did once, caged, what its record does" in render(report)
    assert [one.launcher for one in report.rounds] == [one.decided.launcher for one in rounds]
    found = audit(workspace.layout.root, registry)
    assert found.clean, found.findings
    assert found.launchers == dict.fromkeys(
        ("v0", "v1", "v3"), "launcher: confirmed: it did once, caged, what its record does"
    )
    statement = statement_of(workspace.state(), registry.platform("T10"), {})
    assert statement.predicate.decisions[3].launcher == "confirmed"


@pytest.mark.parametrize(
    ("launched", "decision", "rule", "word"),
    [
        (LauncherRun("no", problem="other results"), "rollback", "gate launcher", "no"),
        (LauncherRun("no", reason="no GPU"), "unverified", "gate launcher", "no"),
        (LauncherRun("simulated", reason="no GPU"), "unverified", "gate launcher", "simulated"),
        (LauncherRun("no", reason="a header", is_own=False), "accept", "R3 improved", "no"),
    ],
)
def test_what_was_not_confirmed_is_not_accepted_as_confirmed(
    workspace: Workspace, replayed: MakeReplayed, replaying: Any, launched: LauncherRun, decision: str, rule: str,
    word: str,
) -> None:  # fmt: skip
    """A launcher that does something else is refused, one that nobody could run leaves the round unverified."""
    executor = replaying()
    with replayed(executor, 2.0) as campaign:
        while not campaign.state().rounds or campaign.state().rounds[0].snapshot is None:
            campaign.step()
        executor.launched = launched
        campaign.run()
    decided = workspace.state().rounds[1].decided
    assert (decided.decision, decided.rule, decided.launcher) == (decision, rule, word)


def test_a_policy_that_does_not_demand_it_runs_no_launcher(
    workspace: Workspace, replayed: MakeReplayed, replaying: Any
) -> None:
    """As those of campaigns that were confirmed before."""
    executor = replaying()
    with replayed(executor, 2.0) as campaign:
        policy = campaign._policy
        gates = tuple(gate for gate in policy.required_gates if gate != "launcher")
        campaign._policy = replace(policy, required_gates=gates)
        campaign.run()
    assert "launcher" not in executor.asked
    assert [(one.decided.decision, one.decided.launcher) for one in workspace.state().rounds] == [("accept", "no")] * 2


def test_an_answer_is_kept_once_and_only_when_it_shows_something() -> None:
    """A step that is done again after a kill adds nothing."""
    empty = Round(1, "t")
    ran = Ran("ok", LauncherRun("confirmed", device="d"), "v1.launcher.1")
    event = launcher_event(empty, ran)
    assert event == LauncherConfirmed(1, "confirmed", "v1.launcher.1", "d", (), {}, {})
    seen = replace(empty, launcher=event)
    assert launcher_event(seen, ran) is None
    assert (launcher_word(empty), launcher_word(seen)) == ("no", "confirmed")
    assert launcher_event(empty, replace(ran, result=LauncherRun("no"))) is None
    assert launcher_event(empty, replace(ran, result=None)) is None


def test_times_lie_between_those_of_all_repeats() -> None:
    """Of the candidate alone."""
    taken = [
        Measured("1", "v1", "4x4", 9, 2e-6, {"p20_s": 1.5e-6, "p80_s": 2.5e-6}, "r", 1),
        Measured("2", "v1", "4x4", 9, 2e-6, {"p20_s": 1.8e-6, "p80_s": 3e-6}, "r", 1),
        Measured("3", "v0", "4x4", 9, 9e-6, {}, "r", 1),
        Measured("4", "v1", "8x8", 9, 4e-6, {}, "r", 1),
    ]
    found = timed_runs(replace(Round(1, "t"), measured={one.id: one for one in taken}))
    assert found == {
        "4x4": ExpectedRun({}, least_s=1.5e-6, most_s=3e-6), "8x8": ExpectedRun({}, least_s=4e-6, most_s=4e-6),
    }  # fmt: skip


def test_a_campaign_recorded_before_says_so(repo_root: Path) -> None:
    """Its journal is read as it is."""
    found = audit(repo_root / "benchmarks" / "campaigns" / "h100_sxm" / "rms_norm")
    assert set(found.launchers.values()) == {"launcher: no, recorded before"}
