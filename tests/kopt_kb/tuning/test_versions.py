"""R9 times a version that seems better in the same run, and nothing else; confirmed is what was timed on all shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.candidate.answers import read_answer
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.tuning.versions import best_rival, confirmed_rounds, is_confirmed
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.round_events import Decided, RunStarted, SnapshotTaken
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

SHAPES = ("8192x4096", "1024x512")
Sides = Mapping[str, float]


class Scripted(SimulatorExecutor):
    """Times of one run after another, in microseconds, as they are written; `asked` holds the sides of each run."""

    def __init__(self, runs: Sequence[Sides]) -> None:
        self.runs, self.asked = list(runs), list[list[str]]()

    def run(self, job: Job, started: Started) -> Outcome:
        if job.kind != "timing":
            return super().run(job, started)
        started(("scripted",), 1, None)
        times = self.runs[len(self.asked)]
        self.asked.append(["incumbent", "candidate", *(["best"] if job.best else [])])
        answer = {side: [record(times[side])] * 3 for side in self.asked[-1]}
        return Outcome("ok", 0, None, 0.0, "", read_answer("timing", {"shapes": dict.fromkeys(SHAPES, answer)}))


def record(micros: float) -> dict[str, Any]:
    """One summary."""
    return {"n": 100, "median_s": micros * 1e-6, "mad_s": 0.0, "p20_s": micros * 1e-6, "p80_s": micros * 1e-6}


class Numbered:
    """Adds a comment with the round's number."""

    name = "numbered"

    def propose(self, view: ProposerView) -> Proposal | None:
        source = view.incumbent + f"# {view.round}\n".encode()
        return Proposal("caching", f"change {view.round}", "less time", self.name, source)


def play(workspace: Workspace, runs: Sequence[Sides], policy: str = "primus") -> tuple[list[list[str]], list[str]]:
    """Run a scripted campaign; return the sides of each run and the rule of each decision."""
    executor = Scripted(runs)
    chosen = policy_named(policy, max_rounds=len(runs) - 1)
    with Campaign(workspace, chosen, (Numbered(),), executor, settings=Settings(samples=5)) as campaign:
        campaign.run()
    return executor.asked, [e.data.rule for e in workspace.events() if isinstance(e.data, Decided)]


BASE = {"incumbent": 110.0, "candidate": 110.0}
FIRST = {"incumbent": 110.0, "candidate": 100.0}
DRIFT = {"incumbent": 103.0, "candidate": 100.6}
"""v1 happens to be slow in this run: v2 beats it, and is 0.6 % behind what v1 was."""


def test_a_campaign_that_drifts_down_twice_is_refused_the_second_time(workspace: Workspace) -> None:
    """v2 is 0.6 % behind v1 as recorded, so v1 runs again beside v3, and v3 is 1.2 % behind it in that run."""
    third = {"incumbent": 103.6, "candidate": 101.2, "best": 100.0}
    sides, rules = play(workspace, [BASE, FIRST, DRIFT, third])
    assert sides == [["incumbent", "candidate"]] * 3 + [["incumbent", "candidate", "best"]]
    assert rules == ["baseline", "R3 improved", "R3 improved", "R9 chain"]
    measured = [e.data for e in workspace.events() if e.kind == "measured" and e.data.run.startswith("sim-v3.")]
    assert {one.candidate for one in measured} == {"v1", "v2", "v3"}
    assert len(measured) == 3 * 3 * len(SHAPES)


def test_a_drift_of_the_clock_alone_refuses_nothing(workspace: Workspace) -> None:
    """Times as slow as before, but v1 is just as slow in the same run: v3 is the best there is."""
    third = {"incumbent": 103.6, "candidate": 101.2, "best": 104.0}
    _, rules = play(workspace, [BASE, FIRST, DRIFT, third])
    assert rules[-1] == "R3 improved"


@pytest.mark.parametrize(
    ("policy", "candidate", "rule"),
    [
        ("primus", 100.0 / 0.99, "R3 improved"),
        ("primus", 100.0 / 0.98999, "R9 chain"),
        ("gpu-wiki", 100.0, "R3 improved"),
        ("gpu-wiki", 100.001, "R9 chain"),
    ],
)
def test_the_limit_is_exact(workspace: Workspace, policy: str, candidate: float, rule: str) -> None:
    """Exactly 1 % behind the best is borne by primus, and nothing by gpu-wiki."""
    third = {"incumbent": 104.0, "candidate": candidate, "best": 100.0}
    assert play(workspace, [BASE, FIRST, DRIFT, third], policy)[1][-1] == rule


def test_a_suspect_is_timed_no_more_once_a_later_run_cleared_the_incumbent(workspace: Workspace) -> None:
    """Round 3 is rolled back, but showed v2 faster than v1: round 4 times two sides."""
    third = {"incumbent": 100.5, "candidate": 102.0, "best": 101.0}
    fourth = {"incumbent": 100.6, "candidate": 97.0}
    sides, rules = play(workspace, [BASE, FIRST, DRIFT, third, fourth])
    assert [len(one) for one in sides] == [2, 2, 2, 3, 2]
    assert rules[3:] == ["R3 not improved", "R3 improved"]


def test_a_suspect_that_is_better_indeed_stays(workspace: Workspace) -> None:
    """Round 3 showed v1 faster than v2: it runs again in round 4."""
    third = {"incumbent": 101.5, "candidate": 102.0, "best": 101.0}
    fourth = {"incumbent": 100.6, "candidate": 97.0, "best": 100.1}
    sides, rules = play(workspace, [BASE, FIRST, DRIFT, third, fourth])
    assert [len(one) for one in sides] == [2, 2, 2, 3, 3]
    assert rules[-1] == "R3 improved"


def test_the_choice_is_the_same_before_and_after_the_round_was_timed(workspace: Workspace) -> None:
    """A resumed round asks for the version it was timed with."""
    third = {"incumbent": 103.6, "candidate": 101.2, "best": 100.0}
    play(workspace, [BASE, FIRST, DRIFT, third])
    events = workspace.events()
    read = ObjectStore(workspace.layout.objects).get
    start = next(at for at, e in enumerate(events, 1) if e.kind == "round_started" and e.data.round == 3)
    for end in range(start, len(events) + 1):
        state = fold(events[:end], read)
        rival = best_rival(state, state.rounds[3])
        assert rival is not None and rival.name == "v1"


def test_recorded_campaigns_needed_no_third_side(repo_root: Path) -> None:
    """On the H200 every accepted version was faster than all before it, as recorded: R9 cost nothing there."""
    for op, accepted in (("gemm", 4), ("rms_norm", 5), ("rms_norm_2", 2), ("softmax", 6), ("softmax_2", 3)):
        state = state_of(Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op))
        assert sum(one.snapshot is not None for one in state.rounds) == accepted
        assert [best_rival(state, one) for one in state.rounds] == [None] * len(state.rounds)


def state_of(workspace: Workspace) -> WorkspaceState:
    """The state after all events."""
    return workspace.state()


def test_a_version_without_a_time_on_every_shape_is_no_rival(workspace: Workspace) -> None:
    """What was not timed can't be held against anything."""
    play(workspace, [BASE, FIRST, DRIFT, {"incumbent": 103.6, "candidate": 101.2, "best": 100.0}])
    state = state_of(workspace)
    one = state.rounds[1]
    assert math.isclose(one.times("v1")[SHAPES[1]][0], 1e-4)
    measured = {key: value for key, value in one.measured.items() if value.shape != SHAPES[1]}
    state.attempts = {**state.attempts, 1: replace(one, measured=measured)}
    assert best_rival(state, state.rounds[3]) is None


FAST = {"incumbent": 110.0, "candidate": 60.0}
SLOW = {"incumbent": 110.0, "candidate": 180.0}


@pytest.mark.parametrize(("again", "decision"), [(FAST, "accept"), (SLOW, "rollback")])
def test_a_gain_above_the_limit_is_timed_twice(workspace: Workspace, again: dict[str, float], decision: str) -> None:
    """+83 % in one run: six repeats of two runs decide; what the second run does not show is no gain."""
    executor = Scripted([BASE, FAST, again])
    policy = policy_named("gpu-wiki", max_rounds=1)
    with Campaign(workspace, policy, (Numbered(),), executor, settings=Settings(samples=5)) as campaign:
        campaign.run()
    assert executor.asked[1:] == [["incumbent", "candidate"]] * 2
    events = [one.data for one in workspace.events()]
    runs = [one.run for one in events if isinstance(one, RunStarted) and one.gate == "timing"]
    assert runs == ["sim-v0.timing.1", "sim-v1.timing.1", "sim-v1.again.timing.1"]
    decided = [one for one in events if isinstance(one, Decided)][1]
    assert (decided.decision, len(decided.measured)) == (decision, 2 * 2 * 6)


def version(number: int, level: str, blob: str, incumbent: str, *, refuted: bool = False) -> Round:
    """An accepted round."""
    by = number + 1 if refuted else None
    decided = Decided(number, "accept", "p", "r", ())
    taken = SnapshotTaken(number, blob, None)
    return Round(number, "", number, incumbent, level=level, decided=decided, snapshot=taken, refuted_by=by)


def test_full_on_quick_is_open_until_it_is_held_against_the_baseline() -> None:
    """A confirmation takes the same files again, and is the version to name."""
    rounds = [version(0, "", "a", "a"), version(1, "quick", "b", "a"), version(2, "full", "c", "b")]
    assert list(confirmed_rounds(rounds)) == ["a"]
    assert not is_confirmed(rounds, rounds[2]) and is_confirmed(rounds, rounds[0])
    rounds.append(version(3, "full", "c", "a"))
    assert confirmed_rounds(rounds) == {"a": rounds[0], "c": rounds[3]} and is_confirmed(rounds, rounds[3])


def test_refuted_and_rejected_rounds_confirm_nothing() -> None:
    """Neither is a version."""
    rounds = [version(0, "", "a", "a"), version(1, "full", "b", "a", refuted=True), Round(2, "", 9, "a", level="full")]
    assert list(confirmed_rounds(rounds)) == ["a"]
