"""What a campaign asks of the code that was timed: the works of its shapes, of whoever reads that code."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.roofline.executed import executed_floor
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.executed import executed_floors
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

SHAPE = "1024x1024x1024"


def test_the_works_of_all_shapes_are_asked_for(tmp_path: Path) -> None:
    """Without a reader of machine code nothing is said."""
    problem = Problem.of("gemm", [SHAPE, "512x512x512"], "fp32")
    state = Workspace.create(tmp_path, "w", Task("H100_SXM", "", None, problem), Registry.open()).state()
    h100 = Registry.open().platform("H100_SXM")
    read = CampaignOptions(
        executed=lambda _, works: {one: executed_floor(works[one], h100, ("tf32",)) for one in works}
    )
    found = executed_floors(state, read, b"")
    assert list(found) == [SHAPE, "512x512x512"] and found[SHAPE].engine == "tf32 matrix instructions"
    assert executed_floors(state, CampaignOptions(platform=h100), b"") == {}
