"""The state of a whole campaign: the same at every event, however it was folded."""

from __future__ import annotations

import pytest

from kopt_kb.tuning.machine import State, state_of
from kopt_kb.workspace.fold import Fold, fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import MemoryMasked
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace


def test_before_the_campaign(workspace: Workspace) -> None:
    """A fresh workspace waits for its target to be confirmed."""
    state = workspace.state()
    assert (state_of(state), state.best, state.open_round, state.simulated) == (State.DEFINE_TARGET, None, None, False)


def test_after_a_campaign(workspace: Workspace, make_campaign) -> None:
    """Rounds, best and stop are read off the events; folding again gives the same."""
    with make_campaign(workspace, rounds=2) as campaign:
        campaign.run()
        state = campaign.state()
        again = campaign.state()
    assert state == again
    assert state_of(state) is State.REPORT
    assert state.simulated
    assert [one.number for one in state.rounds] == [0, 1, 2]
    assert state.best is not None and state.best.accepted
    assert all(one.closed for one in state.rounds)
    assert set(state.noise) == {"8192x4096", "1024x512"}
    assert {len(times) for times in state.best.times(state.best.name).values()} <= {
        3,
        6,
    }  # a suspicious gain is timed again


def fresh(events: tuple[Event, ...], read) -> WorkspaceState:
    """The state of a fold that never saw anything before."""
    return fold(events, read)


def check_prefixes(events: tuple[Event, ...], read, step: int = 1) -> None:
    """One fold that takes event after event gives the state of a fresh one each time, and of any split in two."""
    growing = Fold(read)
    for end in range(1, len(events) + 1):
        growing.take(events[end - 1 : end])
        if end % step and end != len(events):
            continue
        wanted = fresh(events[:end], read)
        assert growing.state() == wanted, end
        assert state_of(growing.state()) is state_of(wanted)
        assert growing.seq == end
        split = Fold(read)
        split.take(events[: end // 2])
        split.take(events[end // 2 : end])
        assert split.state() == wanted, end


@pytest.mark.parametrize("route", ["kernel", "pytorch"])
def test_a_growing_fold_equals_a_fresh_one(route: str, workspace: Workspace, pytorch: Workspace, make_campaign) -> None:
    """After every event of a campaign with a stop, a mask and a second start; after each third on the other route."""
    where = workspace if route == "kernel" else pytorch
    with make_campaign(where, "primus", rounds=6) as campaign:
        campaign.run()
        assert campaign._session is not None
        rolled = next(one.number for one in campaign.state().rounds if one.number and not one.accepted)
        campaign._session.append(MemoryMasked((rolled,), "try again", None))
        campaign.restart()
        for _ in range(20):
            campaign.step()
    check_prefixes(where.events(), ObjectStore(where.layout.objects).get, 1 if route == "kernel" else 3)


def test_a_state_does_not_change_when_the_fold_grows(workspace: Workspace, make_campaign) -> None:
    """What was returned stays as it was, round and noise and masks, whatever is taken up or written into it."""
    with make_campaign(workspace, rounds=2) as campaign:
        campaign.run()
    events, read = workspace.events(), ObjectStore(workspace.layout.objects).get
    growing = Fold(read)
    kept: list[tuple[WorkspaceState, WorkspaceState]] = []
    for end, event in enumerate(events, 1):
        growing.take((event,))
        kept.append((growing.state(), fresh(events[:end], read)))
    for state, wanted in kept:
        assert (state.rounds, state.noise, state.masked) == (wanted.rounds, wanted.noise, wanted.masked)
        assert (state_of(state), state.stopped) == (state_of(wanted), wanted.stopped)
