"""Recipes as hypotheses: cuTile kernels alone, each once, in the order of the limiter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.tuning.known import ProposerKnowledge
from kopt_kb.tuning.proposals import Proposal, ProposerView, Tried
from kopt_kb.tuning.recipes import RecipesProposer


@pytest.fixture
def view(repo_root: Path) -> ProposerView:
    """The packaged cuTile norm on two shapes."""
    source = (repo_root / "kernels" / "cutile" / "rms_norm.py").read_bytes()
    own = ("rms_norm", ("8192x4096", "64x512"), "bf16", "sm_90", "memory", "", 1, source)
    return ProposerView(*own, framework="cuTile", known=ProposerKnowledge(limiters=("dram",)))  # type: ignore[arg-type]


def all_of(view: ProposerView) -> list[Proposal]:
    """Every hypothesis, each rolled back."""
    found: list[Proposal] = []
    while (made := RecipesProposer().propose(view)) is not None:
        found.append(made)
        tried = Tried(view.round, made.category, made.claim, "rollback", "r")
        view = replace(view, round=view.round + 1, tried=(*view.tried, tried))
    return found


def test_each_recipe_once_in_the_order_of_the_limiter(view: ProposerView) -> None:
    """Searches lie over the configuration of now; edits carry the file; what only says what to do is not proposed."""
    found = all_of(view)
    assert [one.claim[:8] for one in found] == [f"recipe {letter}" for letter in "CFGEH"]
    assert found[0].spaces["8192x4096"] == ({}, {"TILE_ROWS": (1, 2, 4, 8), "occupancy": (1, 2, 4, 8)})
    assert b"flush_to_zero=True" in found[-1].source and found[-1].source != view.incumbent
    assert found[-1].expected.endswith("claims +1-5 %")


def test_who_has_no_recipe(view: ProposerView) -> None:
    """Kernels of other frameworks, logic that is to be implemented, text without a kernel, categories to avoid."""
    assert RecipesProposer().propose(replace(view, framework="Triton")) is None
    assert RecipesProposer().propose(replace(view, stage="implement")) is None
    assert RecipesProposer().propose(replace(view, incumbent=b"x = 1")) is None
    avoided = replace(view, avoid=frozenset({"launch_configuration", "memory_access"}))
    made = RecipesProposer().propose(avoided)
    assert made is not None and made.category == "latency_hiding"
