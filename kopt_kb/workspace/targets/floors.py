"""Floors of a workspace's shapes: times below which a result is impossible, and refused."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from kopt_kb.analysis.roofline.recorded import DRAM, RecordedRoofline
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["CACHES", "cache_bytes", "floor_s", "has_floors", "product_floor_s"]

CACHES = ("llc_capacity", "l2_capacity")
"""Metrics of the last cache."""


def has_floors(workspace: WorkspaceState) -> bool:
    """Return whether the targets in force recorded floors; before, documented roofs stood for them."""
    return workspace.targets is not None and "floors" in workspace.targets.work


def floor_s(workspace: WorkspaceState, *, cold: bool) -> dict[str, float]:
    """Return shape → least possible seconds; shapes of which nothing is known are left out.

    The larger of the recorded floor of its products (in workspaces that recorded none: useful operations over the
    documented peak), and compulsory bytes over the documented bandwidth, less what the last cache may keep: of what a
    kernel wrote, and of what it read where caches were warm.

    Args:
        workspace: Rooflines and specs.
        cold: Whether caches were flushed before each run, so that everything that is read comes from memory.
    """
    cache = cache_bytes(workspace)
    floors = {}
    for roofline in workspace.rooflines:
        least = _computed(workspace, roofline)
        memory = roofline.ceiling(DRAM)
        if memory is not None and (per_s := memory.per_s("documented")):
            least.append(roofline.work.moved_at_least(cache, cold=cold) / per_s)
        times = [time for time in least if time is not None]
        if times:
            floors[roofline.shape] = float(max(times))
    return floors


def product_floor_s(workspace: WorkspaceState, shape: str) -> Fraction | None:
    """Return the recorded least time of the products of a shape; None where there is none."""
    floors = workspace.targets.work.get("floors") if workspace.targets is not None else None
    held = floors.get(shape) if isinstance(floors, Mapping) else None
    return Fraction(str(held["seconds"])) if isinstance(held, Mapping) else None


def _computed(workspace: WorkspaceState, roofline: RecordedRoofline) -> list[Fraction | None]:
    """Return the least times of the arithmetic of a shape."""
    if has_floors(workspace):
        return [product_floor_s(workspace, roofline.shape)]
    return [roofline.least_s(roof.name, "documented") for roof in roofline.ceilings if roof.is_engine]


def cache_bytes(workspace: WorkspaceState) -> Fraction:
    """Return the capacity of the last cache, in bytes; 0 when it is unknown."""
    rows = [row for key, row in workspace.specs.items() if key.partition("[")[0] in CACHES]
    return max((Fraction(row.si) for row in rows if row.si is not None), default=Fraction(0))
