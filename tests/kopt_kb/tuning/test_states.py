"""The state is a fold: the same events give the same state, and masked versions are known."""

from __future__ import annotations

from kopt_kb.tuning.states import State, fold_campaign
from kopt_kb.workspace.objects import ObjectStore
from kopt_kb.workspace.workspace import Workspace


def test_before_the_campaign(workspace: Workspace) -> None:
    """A fresh workspace waits for its target to be confirmed."""
    state = fold_campaign(workspace.events(), ObjectStore(workspace.layout.objects).get)
    assert (state.state, state.best, state.open_round, state.simulated) == (State.DEFINE_TARGET, None, None, False)


def test_after_a_campaign(workspace: Workspace, make_campaign) -> None:
    """Rounds, best and stop are read off the events; folding again gives the same."""
    with make_campaign(workspace, rounds=2) as campaign:
        campaign.run()
        state = campaign.state()
        again = campaign.state()
    assert state == again
    assert state.state is State.REPORT
    assert state.simulated
    assert [one.number for one in state.rounds] == [0, 1, 2]
    assert state.best is not None and state.best.accepted
    assert all(one.closed for one in state.rounds)
    assert set(state.noise) == {"8192x4096", "1024x512"}
    assert {len(times) for times in state.best.times(state.best.name).values()} == {3}
