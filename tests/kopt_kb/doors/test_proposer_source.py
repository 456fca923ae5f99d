"""What a source of proposers is told of a campaign."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.workspace.journal.campaign_events import PlanMade

OLD, NEW = PlanMade("old.txt", {}), PlanMade("new.txt", {})


@pytest.mark.parametrize(
    ("stopped", "plan", "in_force"), [(None, None, OLD), (None, NEW, NEW), ("user", None, None), ("user", NEW, NEW)]
)
def test_the_plan_of_an_open_campaign_is_in_force(stopped: str | None, plan: Any, in_force: Any) -> None:
    """That of a campaign that was ended is not; one that is made now goes first."""
    state: Any = SimpleNamespace(stopped=stopped, plan=OLD, task=SimpleNamespace(framework="Triton"))
    context = ProposerContext(state, "gpu-wiki", argparse.Namespace(), plan)
    assert (context.plan_in_force, context.framework) == (in_force, "Triton")
