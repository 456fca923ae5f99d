"""Records that are faster than a roof: errors of timing, work or roof, and no measurement of the kernel."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.problem.shapes import format_shape
from kopt_kb.workspace.conditions import AboveCeilingError, StopConditions
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.roof_use import roof_uses
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["above_roof"]


def above_roof(state: WorkspaceState, records: Mapping[str, Measured]) -> dict[str, str]:
    """Return shape → what is wrong, for every record above a documented roof or above its target's ceiling.

    Args:
        state: Rooflines and targets.
        records: Shape → record, taken on the workspace's product.
    """
    conditions = {one.shape: one for one in StopConditions.of(state).conditions}
    roofs = {format_shape(tuple(one["work"]["shape"])): one for one in state.rooflines}
    found = {}
    for shape, record in records.items():
        used = roof_uses(roofs[shape], record.median_s) if shape in roofs and record.median_s > 0 else ()
        shares = [(one.documented_share, one.name) for one in used]
        above = [(share, name) for share, name in shares if share is not None and share > 1]
        if above:
            share, name = max(above)
            found[shape] = f"{shape} is at {share:.1%} of its {name} roof"
        elif shape in conditions and record.median_s > 0:
            try:
                StopConditions((conditions[shape],)).evaluate(records)
            except AboveCeilingError as error:
                found[shape] = error.what
    return found
