"""What a campaign asks of the code that was timed: shapes whose code could be read, on the workspace's product."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.executed import executed_floors
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

SHAPE = "1024x1024x1024"


def test_only_shapes_of_the_workspace_whose_code_was_read(tmp_path: Path) -> None:
    """Without a reader of machine code, or without a product, nothing is said."""
    problem = Problem.of("gemm", [SHAPE, "512x512x512"], "fp32")
    state = Workspace.create(tmp_path, "w", Task("H100_SXM", "", None, problem), Registry.open()).state()
    h100 = Registry.open().platform("H100_SXM")
    read = {SHAPE: ("tf32",), "7x7x7": ("tf32",)}
    found = executed_floors(state, CampaignOptions(executed=lambda _: read, platform=h100), b"")
    assert list(found) == [SHAPE] and found[SHAPE].engine == "tf32 matrix instructions"
    assert executed_floors(state, CampaignOptions(platform=h100), b"") == {}
    assert executed_floors(state, CampaignOptions(executed=lambda _: read), b"") == {}
