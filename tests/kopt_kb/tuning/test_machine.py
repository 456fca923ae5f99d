"""The transition table holds over whole campaigns and over random steps, stops, kills and new starts."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.machine import EXITS, NEXT, STEPS, State, exits, next_step, state_of
from kopt_kb.tuning.options import Budget, Settings
from kopt_kb.tuning.policy import confirmed_policy, policy_named
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import Stopped
from kopt_kb.workspace.journal.round_events import Decided
from kopt_kb.workspace.route import Route
from kopt_kb.workspace.workspace import Workspace


def may_follow(route: Route, before: State, after: State) -> bool:
    """Return whether a step, a stop or a new start may lead from one state to another."""
    if before is after:
        return True
    if route == "roofline":
        return (before, after) == (State.DEFINE_TARGET, State.REPORT)
    return after in NEXT[before] or (after is State.REPORT and bool(EXITS[before]))


def walked(workspace: Workspace) -> list[tuple[State, State]]:
    """Every change of state in a journal, event by event, and each stop checked against the exits."""
    read = ObjectStore(workspace.layout.objects).get
    events = workspace.events()
    seen, before = [], fold(events[:1], read)
    for end in range(2, len(events) + 1):
        last = events[end - 1].data
        after = fold(events[:end], read)
        if isinstance(last, Stopped):
            assert last.reason in exits(before, confirmed_policy(before.campaign)), (end, state_of(before))
        assert may_follow(after.route, state_of(before), state_of(after)), (end, state_of(before), state_of(after))
        if state_of(after) is not state_of(before):
            seen.append((state_of(before), state_of(after)))
        before = after
    return seen


def test_both_tables_cover_every_state() -> None:
    """No state is forgotten; only REPORT has no exit; a step never leads to itself by the table."""
    assert set(NEXT) == set(EXITS) == set(State)
    assert [state for state in State if not EXITS[state]] == [State.REPORT]
    assert all(state not in NEXT[state] for state in State)


@pytest.mark.parametrize("policy", ["gpu-wiki", "primus"])
@pytest.mark.parametrize("route", ["kernel", "pytorch"])
def test_a_campaign_walks_the_table(
    route: str, policy: str, workspace: Workspace, pytorch: Workspace, make_campaign
) -> None:
    """From the target to the report; REPORT follows a round and never the baseline."""
    where = workspace if route == "kernel" else pytorch
    with make_campaign(where, policy, rounds=6) as campaign:
        campaign.run()
    seen = walked(where)
    assert seen[:4] == [
        (State.DEFINE_TARGET, State.PREPARE_ENVIRONMENT),
        (State.PREPARE_ENVIRONMENT, State.READ_HISTORICAL_TIPS),
        (State.READ_HISTORICAL_TIPS, State.BASELINE),
        (State.BASELINE, State.ACCEPT),
    ]
    assert seen[-1][1] is State.REPORT
    assert State.ROLLBACK in {after for _, after in seen}


@pytest.mark.parametrize("op", ["gemm", "rms_norm", "rms_norm_2", "softmax", "softmax_2"])
def test_recorded_campaigns_walk_the_table(repo_root: Path, op: str) -> None:
    """The campaigns measured on an H200 before there was a table."""
    assert walked(Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op))


@pytest.mark.parametrize("seed", range(4))
def test_random_steps_stops_kills_and_starts_walk_the_table(
    seed: int, workspace: Workspace, pytorch: Workspace, make_campaign
) -> None:
    """Whatever a user does; a stop that the table forbids writes nothing."""
    chance = random.Random(seed)
    where = chance.choice([workspace, pytorch])
    campaign = make_campaign(where, chance.choice(["gpu-wiki", "primus"]), rounds=3)
    for _ in range(70):
        action = chance.choices(["step", "kill", "stop", "budget", "start"], [40, 5, 1, 3, 8])[0]
        if action == "step":
            campaign.step()
        elif action == "kill":
            campaign.close()
        elif action == "start" and campaign.state().stopped is not None:
            campaign.restart()
        elif action == "budget":
            campaign.run(Budget(rounds=0))
        elif action == "stop":
            count = len(where.events())
            reason = chance.choice(["user", "budget", "plateau", "target"])
            allowed = campaign.state().stopped is None and reason in exits(
                campaign.state(), confirmed_policy(campaign.state().campaign)
            )
            try:
                campaign.stop(reason)
            except BadInput:
                assert not allowed
            assert len(where.events()) == count + allowed
    campaign.close()
    walked(where)


def test_every_transition_of_the_table_is_reached(workspace: Workspace, make_campaign) -> None:
    """By a campaign, by the same one with notes, by single steps, and by a new start wherever it stands."""
    with make_campaign(workspace, "primus", rounds=6) as campaign:
        campaign.run()
    read, events = ObjectStore(workspace.layout.objects).get, workspace.events()
    start = [one for one in events if one.kind in {"campaign_confirmed", "environment_recorded", "tips_read"}]
    noted = [
        replace(one, data=replace(one.data, decision="accept_with_note"))
        if isinstance(one.data, Decided) and one.data.round and one.data.decision == "accept" else one
        for one in events
    ]  # fmt: skip
    seen: set[tuple[State, State]] = set()
    for journal in (events, noted):
        states = [state_of(fold(journal[:end], read)) for end in range(1, len(journal) + 1)]
        stepped = [one for one in states if one is not State.ANALYZE]
        seen |= {*pairwise(states), *pairwise(stepped)}
        for end in range(1, len(journal)):
            again = (*journal[:end], *start)
            seen |= {
                (state_of(fold(again[:-1], read)), state_of(fold(again, read))),
                (State.REPORT, state_of(fold((*journal, start[0]), read))),
            }
    table = {(before, after) for before, follow in NEXT.items() for after in follow}
    assert table - seen == set()
    assert {(a, b) for a, b in seen if not may_follow("kernel", a, b)} == set()


def test_every_step_is_taken(workspace: Workspace, pytorch: Workspace, make_workspace, make_campaign) -> None:
    """Each row of the machine is due somewhere in a campaign, but what only measured ones need."""
    seen = set()
    for where in (workspace, pytorch):
        with make_campaign(where, rounds=2) as campaign:
            campaign.run()
        events, read = where.events(), ObjectStore(where.layout.objects).get
        seen |= {next_step(fold(events[:end], read)).name for end in range(1, len(events) + 1)}
    seen.add(next_step(make_workspace("roof", None).state()).name)
    assert {one.name for one in STEPS} - seen == {"measure_noise", "account_gap", "measure_reachable"}


def test_a_policy_without_a_reason_does_not_end_by_it(workspace: Workspace, make_campaign) -> None:
    """primus knows no plateau; what ends every campaign ends this one too."""
    with make_campaign(workspace, "primus") as campaign:
        while state_of(campaign.state()) not in {State.ACCEPT, State.ROLLBACK} or len(campaign.state().rounds) < 2:
            campaign.step()
        state = campaign.state()
        assert "plateau" not in exits(state, confirmed_policy(state.campaign))
        assert {"user", "budget", "exhausted", "aborted", "target"} <= exits(state, confirmed_policy(state.campaign))
        with pytest.raises(BadInput, match="does not end with plateau"):
            campaign.stop("plateau")


def straight_after_baseline(campaign: Campaign) -> None:
    """Step until the baseline is accepted and nothing else began."""
    while campaign.step() is not State.ACCEPT:
        pass


def test_a_budget_spent_straight_after_the_baseline_leaves_the_campaign_open(
    workspace: Workspace, make_campaign
) -> None:
    """The call ends, no REPORT is written, and the next call goes on with round 1."""
    said: list[str] = []
    with make_campaign(workspace, say=said.append) as campaign:
        report = campaign.run(Budget(rounds=0))
        assert (report.state, report.stop) == ("ACCEPT", None)
        assert any("stays open" in one for one in said)
        report = campaign.run(Budget(rounds=1))
    assert report.stop is not None and report.stop.reason == "budget"
    assert [one.number for one in report.rounds] == [0, 1]
    walked(workspace)


def test_a_new_start_does_not_open_the_way_either(workspace: Workspace, make_campaign) -> None:
    """Stopped by the user straight after the baseline and started again, a spent budget still ends no campaign."""
    with make_campaign(workspace) as campaign:
        straight_after_baseline(campaign)
        campaign.stop("user")
        campaign.restart()
        assert campaign.run(Budget(rounds=0)).stop is None
        while campaign.step() is not State.ACCEPT:
            pass
        assert campaign.run(Budget(rounds=0)).state == "ACCEPT"
    walked(workspace)


def test_an_accepted_baseline_without_its_snapshot_is_no_way_out_either(workspace: Workspace, make_campaign) -> None:
    """Between the decision and the snapshot the state is still BASELINE, and a budget ends nothing."""
    with make_campaign(workspace) as campaign:
        while campaign.step() and workspace.events()[-1].kind != "decided":
            pass
        assert state_of(campaign.state()) is State.BASELINE
        with pytest.raises(BadInput, match="does not end with budget at BASELINE"):
            campaign.stop("budget")


@pytest.mark.parametrize("reason", ["budget", "target", "plateau", "iterations", "aborted"])
def test_only_the_user_ends_it_straight_after_the_baseline(workspace: Workspace, make_campaign, reason: str) -> None:
    """Every other reason from outside is refused and named; the user's is taken."""
    with make_campaign(workspace) as campaign:
        straight_after_baseline(campaign)
        count = len(workspace.events())
        with pytest.raises(BadInput, match=f"does not end with {reason} at ACCEPT"):
            campaign.stop(reason)
        assert len(workspace.events()) == count
        campaign.stop("user")
        assert state_of(campaign.state()) is State.REPORT


def test_the_roofline_goes_from_target_to_report(make_workspace) -> None:
    """One step, no environment, no round; a second step and a new start change nothing."""
    where = make_workspace("roof", None)
    settings = Settings(samples=5)
    with Campaign(where, policy_named("gpu-wiki"), (), SimulatorExecutor(), settings=settings) as campaign:
        assert campaign.step() is State.REPORT
        assert campaign.step() is State.REPORT
        campaign.restart()
        report = campaign.run()
    assert report.stop == Stopped("user", (1, 3))
    assert [e.kind for e in where.events()][-2:] == ["campaign_confirmed", "stopped"]
    assert walked(where) == [(State.DEFINE_TARGET, State.REPORT)]
