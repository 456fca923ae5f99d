"""Plans on the command line; whole campaigns are in tests/packs/coordination/test_autopilot.py."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.packs.coordination.tune_plan import following, made_plan

FRESH: Any = SimpleNamespace(campaign=None, stopped=None, plan=None)


def context(policy: str, analysis: str | None = None) -> ProposerContext:
    """A campaign of a policy on a fresh workspace."""
    return ProposerContext(FRESH, policy, argparse.Namespace(analysis=analysis))


def test_autopilot_and_analysis_go_together() -> None:
    """One without the other is refused; other policies follow no plan."""
    for one in (context("autopilot"), context("primus", "a.txt")):
        with pytest.raises(BadInput, match="analysis"):
            made_plan(one)
    assert made_plan(context("primus")) is None
    assert following(context("primus"), ()) == ()
