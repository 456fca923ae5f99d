"""Proposers that packs bring: where they stand, what stands around all, and the plan of a campaign."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.cli.tune.campaign import proposers_of
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.proposer_source import ProposerContext, ProposerPlace, ProposerSource
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.tuning.proposer_sources import plan_of_packs, steered
from kopt_kb.workspace.journal.campaign_events import PlanMade
from tests.installed_packs import installed

PLAN = PlanMade("a.txt", {})


@dataclass(frozen=True, slots=True)
class _Named:
    name: str

    def propose(self, view: ProposerView) -> Proposal | None:
        """Know nothing."""


@dataclass(frozen=True, slots=True)
class _Around:
    others: tuple[Any, ...]
    name: str = "around"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Know nothing."""


def strange(*sources: ProposerSource) -> Pack:
    """A pack that brings them."""
    return Pack(
        name="strange", what="a test's pack", loop_parts=(LoopPart("asked", "who is asked", proposers=sources),)
    )


def source(place: ProposerPlace) -> ProposerSource:
    """One that knows Triton alone."""
    return ProposerSource(
        place, "a proposer there", lambda one: (_Named(place),) if one.framework == "Triton" else (), place
    )


def context(framework: str = "Triton", **more: Any) -> ProposerContext:
    """A fresh workspace."""
    state: Any = SimpleNamespace(task=SimpleNamespace(framework=framework), stopped=None, plan=None, campaign=None)
    args = {"plan": None, "proposer": ["ask me"], "analysis": None, "no_package": False, **more}
    return ProposerContext(state, "gpu-wiki", argparse.Namespace(**args))


def test_each_stands_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind outside commands; whoever has nothing to say to a framework is not there, and a person's plan is alone."""
    installed(monkeypatch, strange(source("last"), source("before_searches"), source("first")))
    names = [one.name for one in proposers_of(context())]
    assert "ask" in names[0]
    assert names[1:] == ["first", "package", "before_searches", "variants", "knobs", "own_space", "last"]
    assert [one.name for one in proposers_of(context("HIP"))][1:] == ["package", "variants", "knobs", "own_space"]
    assert len(proposers_of(context(plan="plan.json"))) == 1


def test_one_stands_around_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked in their place."""
    around = ProposerSource("around", "asks the others", around=lambda _, others: (_Around(others),))
    installed(monkeypatch, strange(around))
    (one,) = steered(context(), (_Named("a"), _Named("b")))
    assert isinstance(one, _Around)
    assert [other.name for other in one.others] == ["a", "b"]


def test_a_campaign_has_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packs that make one are refused."""
    first = ProposerSource("first", "makes a plan", plan=lambda _: PLAN)
    installed(monkeypatch, strange(first, ProposerSource("no", "makes none", plan=lambda _: None)))
    assert plan_of_packs(context()) is PLAN
    installed(monkeypatch, strange(first, replace(first, name="second")))
    with pytest.raises(BadInput, match="first and second"):
        plan_of_packs(context())


def test_a_plan_that_nobody_follows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open campaign goes on in its order, or not at all."""
    installed(monkeypatch, without=("coordination",))
    assert plan_of_packs(context()) is None
    others = (_Named("a"),)
    assert steered(context(), others) == others
    with pytest.raises(MissingTool, match=r"the plan of a\.txt") as caught:
        steered(replace(context(), plan=PLAN), others)
    assert caught.value.error_code == "KB120"
