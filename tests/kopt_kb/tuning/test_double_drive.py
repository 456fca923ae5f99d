"""Every decision of every journal is taken again from its events, and held against what its contest said."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kopt_kb.launch.candidate.answers import Contest, Timing
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.policy import confirmed_policy
from kopt_kb.tuning.ruling import Ruling
from kopt_kb.tuning.session import Session
from kopt_kb.workspace.fold import Fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import Decided
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.workspace import Workspace

ROOT = Path(__file__).parents[3]
RECORDED = sorted(one.parent for one in (ROOT / "benchmarks" / "campaigns").rglob("journal.jsonl"))

AFTER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "faster": (("accept", "R3 improved"), ("accept_with_note", "R3 trade-off"), ("rollback", "R3 regression"),
               ("rollback", "R9 chain")),
    "not_faster": (("rollback", "contest not faster"),),
    "undecided": (("rollback", "contest undecided"),),
    "unavailable": (("unverified", "contest unavailable"),),
}  # fmt: skip
"""What a contest said of a candidate whose gates all passed → what its round may come to."""


@dataclass(frozen=True)
class Taken:
    """One decision as the journal has it, taken again, and the contest that its round held last."""

    event: int
    kept: tuple[str, str]
    again: tuple[str, str]
    contest: Contest | None
    judged: bool


def decisions(events: tuple[Event, ...], store: ObjectStore) -> Iterator[Taken]:
    """Yield every decision of a journal; each is taken again from the events before it alone."""
    fold = Fold(store.get)
    for event in events:
        if isinstance(event.data, Decided):
            state = fold.state()
            policy = confirmed_policy(state.campaign)
            executor = SimpleNamespace(trust=event.data.trust)
            session = cast("Session", SimpleNamespace(executor=executor, store=store))
            recall = lambda run, session=session: Session.recall(session, run)  # noqa: E731
            ruling = Ruling(cast("Any", SimpleNamespace(executor=executor, recall=recall)), policy)
            current = state.attempts[event.data.round]
            yield Taken(
                event.seq, (event.data.decision, event.data.rule), _again(ruling, state, current),
                _contest(current, recall), all(one.result != "fail" for one in current.gates.values()),
            )  # fmt: skip
        fold.take([event])


def _again(ruling: Ruling, state: Any, current: Round) -> tuple[str, str]:
    if not current.gates and current.submitted[current.name].blob == current.incumbent:
        return "rollback", "unchanged"  # an earlier release judged such rounds like any other
    found = ruling.decide(state, current)
    return found.decision, f"{found.rule} (quick)" if current.level == "quick" else found.rule


def _contest(current: Round, recall: Callable[[Any], Any]) -> Contest | None:
    """Return the last contest of a round, read from the answers of its runs without any help of the loop."""
    answers = [recall(run).result for run in current.runs.values() if run.started.gate == "timing"]
    held = [one.contest for one in answers if isinstance(one, Timing) and one.contest is not None]
    return held[-1] if held else None


def check(events: tuple[Event, ...], store: ObjectStore) -> list[Taken]:
    """Return the decisions of a journal, all of which hold."""
    taken = list(decisions(events, store))
    for one in taken:
        assert one.kept == one.again, f"event {one.event}"
        if one.contest is not None and one.judged and one.kept[1] != "trust":
            assert one.kept in AFTER[one.contest.verdict], f"event {one.event}"
            is_faster = (one.contest.least_pct or 0.0) > one.contest.threshold_pct
            assert one.contest.verdict != "faster" or is_faster, f"event {one.event}"
    return taken


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_recorded_campaigns(folder: Path) -> None:
    """All that are committed, whoever judged."""
    workspace = Workspace.open(folder)
    assert len(check(workspace.events(), ObjectStore(workspace.layout.objects))) > 1


@pytest.mark.parametrize("seed", range(4))
def test_replayed_campaigns(seed: int, workspace: Workspace, replayed: Callable[..., Campaign], replaying: Any) -> None:
    """Whatever contests say: faster, with a shape that lost, not faster, undecided, none held; results that are wrong."""
    chance = random.Random(seed)
    executor, costs = replaying(), [round(3.9 - 0.2 * at, 1) for at in range(8)]
    chance.shuffle(costs)
    for cost in costs:
        kind = chance.choice(["plain", "plain", "slower", "wrong", "undecided", "unavailable", "not_faster"])
        if kind == "slower":
            executor.slower.add(cost)
        elif kind == "wrong":
            executor.wrong.add(cost)
        elif kind != "plain":
            executor.verdicts[cost] = kind
    with replayed(executor, *costs) as campaign:
        campaign._render = lambda: None  # type: ignore[method-assign]
        campaign.run()
        taken = check(tuple(campaign._open().journal.events), campaign._open().store)
    assert len(taken) == 9
    assert sum(one.contest is not None for one in taken) >= 4


def test_simulated_campaigns(workspace: Workspace, make_campaign: Callable[..., Campaign]) -> None:
    """Where no contest is held the rules for noise decide, searches included."""
    with make_campaign(workspace, rounds=6) as campaign:
        campaign._render = lambda: None  # type: ignore[method-assign]
        campaign.run()
        taken = check(tuple(campaign._open().journal.events), campaign._open().store)
    assert len(taken) == 7
    assert all(one.contest is None for one in taken)


def test_a_decision_that_its_contest_does_not_carry_is_found(
    workspace: Workspace, replayed: Callable[..., Campaign], replaying: Any
) -> None:
    """Also one that says the same word by another rule."""
    executor = replaying()
    executor.verdicts[3.0] = "undecided"
    with replayed(executor, 3.0) as campaign:
        campaign._render = lambda: None  # type: ignore[method-assign]
        campaign.run()
        events, store = tuple(campaign._open().journal.events), campaign._open().store
    check(events, store)
    at, event = next((at, one) for at, one in enumerate(events) if isinstance(one.data, Decided) and one.data.round)
    assert isinstance(event.data, Decided)
    for changed in (
        replace(event.data, decision="accept", rule="R3 improved"),
        replace(event.data, rule="R3 not improved"),
    ):
        with pytest.raises(AssertionError, match=f"event {event.seq}"):
            check((*events[:at], replace(event, data=changed), *events[at + 1 :]), store)
