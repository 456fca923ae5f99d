"""The second floor of a campaign's shapes: what the machine code that was timed can do on the workspace's product."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.analysis.roofline.executed import ExecutedFloor, executed_floor
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["executed_floors"]


def executed_floors(state: WorkspaceState, options: CampaignOptions, source: bytes) -> Mapping[str, ExecutedFloor]:
    """Return shape → the floor by the code that a source was recorded as; empty where nobody reads that code."""
    platform = options.platform
    if options.executed is None or platform is None:
        return {}
    types = options.executed(source)
    works = {one.shape: one.work for one in state.rooflines}
    return {shape: executed_floor(works[shape], platform, found) for shape, found in types.items() if shape in works}
