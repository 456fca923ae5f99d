"""Recorded campaigns, and states made of them that nobody recorded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from kopt_kb.tuning.policy import confirmed_policy
from kopt_kb.tuning.report import CampaignReport, report_of
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

ROOT = Path(__file__).resolve().parents[4] / "benchmarks" / "campaigns"
CAMPAIGNS = sorted(path.parent for path in ROOT.glob("*/*/journal.jsonl"))


@cache
def state_of(folder: Path) -> WorkspaceState:
    """The state of a recorded campaign; nobody changes it."""
    return Workspace.open(folder).state()


def reported(state: WorkspaceState) -> CampaignReport:
    """The report of a state."""
    return report_of(state, confirmed_policy(state.campaign))


def told(state: WorkspaceState, text: str) -> WorkspaceState:
    """A state in which everybody who can say something says this text."""
    rounds = {number: _told(one, text) for number, one in state.attempts.items()}
    row = next(iter(state.specs.values()))
    return replace(
        state,
        attempts=rounds,
        created=replace(state.created, name=text or "-"),
        task=replace(state.task, kernel_demo=text, framework=text),
        specs={**state.specs, row.key: replace(row, source=text, grade=text or "-")},
        targets=None if state.targets is None else replace(state.targets, reason=text or "-", by=text or "-"),
        environments={seq: replace(one, device=text or "-", driver=text) for seq, one in state.environments.items()},
    )


def _told(one: Round, text: str) -> Round:
    stated = (
        None
        if one.hypothesis is None
        else replace(one.hypothesis, claim=text, category=text, expected=text, proposer=text)
    )
    decided = None if one.decided is None else replace(one.decided, rule=text, policy=text)
    candidates = {
        name: replace(each, gates=tuple(replace(gate, result="fail", reason=text) for gate in each.gates))
        for name, each in one.candidates.items()
    }
    profiles = tuple(replace(each, code=text, tool=text) for each in one.profiles)
    return replace(one, hypothesis=stated, decided=decided, candidates=candidates, profiles=profiles)


def lengthened(state: WorkspaceState, count: int) -> WorkspaceState:
    """A state with so many rounds: the last ones over and over."""
    rounds = dict(state.attempts)
    last = list(rounds.values())[1:]
    for number in range(len(rounds), count):
        rounds[number] = replace(last[number % len(last)], number=number, is_baseline=False)
    return replace(state, attempts=rounds)
