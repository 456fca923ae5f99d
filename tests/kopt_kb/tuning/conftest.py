"""A workspace on the invented wiki whose kernel is the package's naive RMS norm, and a simulated campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.problem.problem import Problem
from kopt_kb.registry.registry import Registry
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.policies import policy_named
from kopt_kb.tuning.proposers import KnobsProposer, VariantsProposer
from kopt_kb.tuning.rounds import Aids
from kopt_kb.tuning.settings import Settings
from kopt_kb.tuning.simulator import SimulatorExecutor
from kopt_kb.tuning.stage_one import PackagedProposer
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

MakeCampaign = Callable[..., Campaign]
MakeWorkspace = Callable[..., Workspace]


@pytest.fixture
def naive(repo_root: Path) -> Path:
    """The package's naive RMS norm."""
    return repo_root / "kernels" / "naive" / "rms_norm.py"


@pytest.fixture
def workspace(tmp_path: Path, wiki_root: Path, naive: Path) -> Workspace:
    """A workspace fresh from `kb init`."""
    problem = Problem.of("rms_norm", ["8192x4096", "1024x512"], "bf16")
    task = Task(platform="T10", framework="Triton", kernel_demo=naive, problem=problem)
    return Workspace.create(tmp_path, "norm", task, Registry.open(wiki_root))


@pytest.fixture
def make_workspace(tmp_path: Path, wiki_root: Path) -> MakeWorkspace:
    """Makes a workspace of an RMS norm from a kernel demo, or the roofline alone without one."""

    def make(name: str, demo: Path | None, **more: Any) -> Workspace:
        problem = Problem.of("rms_norm", ["8192x4096", "1024x512"], "bf16")
        task = Task(**{"platform": "T10", "framework": "Triton", "kernel_demo": demo, "problem": problem, **more})
        return Workspace.create(tmp_path, name, task, Registry.open(wiki_root))

    return make


@pytest.fixture
def logic(repo_root: Path) -> Path:
    """PyTorch logic of an RMS norm, without a kernel."""
    return repo_root / "tests" / "data" / "logic" / "rms_norm.py"


@pytest.fixture
def pytorch(make_workspace: MakeWorkspace, logic: Path) -> Workspace:
    """A workspace on the route pytorch."""
    return make_workspace("logic", logic)


@pytest.fixture
def make_campaign() -> MakeCampaign:
    """Makes a simulated campaign on a workspace with a small search budget."""

    def make(
        workspace: Workspace, policy: str = "gpu-wiki", rounds: int = 4, say: Callable[[str], None] = lambda _: None
    ) -> Campaign:
        chosen = policy_named(policy, max_rounds=rounds)
        settings = Settings(samples=10, evaluations=6, search_s=5.0)
        return Campaign(
            workspace,
            chosen,
            (PackagedProposer(), VariantsProposer(), KnobsProposer()),
            SimulatorExecutor(),
            settings=settings,
            aids=Aids(say=say),
        )

    return make
