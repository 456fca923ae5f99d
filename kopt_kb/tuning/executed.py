"""The second floor of a campaign's shapes: what the machine code that was timed can do on the workspace's product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.analysis.roofline.executed import ExecutedFloor

__all__ = ["executed_floors"]


def executed_floors(state: WorkspaceState, options: CampaignOptions, source: bytes) -> Mapping[str, ExecutedFloor]:
    """Return shape → the floor by the code that a source was recorded as; empty where nobody reads that code."""
    if options.executed is None:
        return {}
    return options.executed(source, {one.shape: one.work for one in state.rooflines})
