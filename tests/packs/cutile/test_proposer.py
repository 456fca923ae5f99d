"""Recipes as hypotheses: cuTile kernels alone, each once, in the order of the limiter."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.packs.cutile.iterations import RESULTS
from kopt_kb.packs.cutile.proposer import RecipesProposer
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.known import ProposerKnowledge
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView, Tried
from kopt_kb.tuning.proposer_sources import proposers_of_packs
from tests.installed_packs import installed


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


def test_the_loop_of_a_cutile_kernel(make_workspace, repo_root: Path) -> None:
    """One recipe an iteration from the packaged norm: kept or reverted, the next from the last kept, until none is left."""
    demo = repo_root / "kernels" / "cutile" / "rms_norm.py"
    workspace = make_workspace("tiles", demo, framework="cuTile")
    policy = policy_named("cutile", without_stops=("target", "hardware_limit", "plateau"))
    settings = Settings(samples=10, evaluations=2, search_s=600.0)
    with Campaign(workspace, policy, (RecipesProposer(),), SimulatorExecutor(), settings=settings) as campaign:
        campaign.run()
    state = workspace.state()
    claims = [one.hypothesis.claim[:8] for one in state.rounds[1:] if one.hypothesis is not None]
    assert claims[0] == "recipe C" and sorted(claims) == [f"recipe {letter}" for letter in "CEFGH"]
    assert state.stopped is not None and state.stopped.reason == "exhausted"
    table = (workspace.layout.root / RESULTS).read_text().splitlines()
    assert len(table) == 3 + len(state.rounds)
    assert table[3].startswith("| 0 | baseline | ") and table[4].startswith("| 1 | recipe C, wide autotuning: ")
    kept = [one for one in state.rounds if one.accepted]
    assert [one.incumbent for one in kept[1:]] == [one.snapshot.blob for one in kept[:-1] if one.snapshot is not None]


def test_recipes_come_from_their_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the searches, for cuTile kernels alone; nowhere without the pack."""
    cutile, triton = (
        ProposerContext(SimpleNamespace(task=SimpleNamespace(framework=name)), "gpu-wiki", argparse.Namespace())  # type: ignore[arg-type]
        for name in ("cuTile", "Triton")
    )
    assert [one.name for one in proposers_of_packs(cutile, "before_searches")] == ["recipes"]
    assert proposers_of_packs(triton, "before_searches") == ()
    installed(monkeypatch, without=("cutile",))
    assert proposers_of_packs(cutile, "before_searches") == ()
