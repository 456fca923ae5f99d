"""Floors of a workspace's shapes: times below which a result is impossible, and refused."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from kopt_kb.analysis.roofline.caches import held_by
from kopt_kb.analysis.roofline.recorded import DRAM, RecordedRoofline
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["cache_bytes", "floor_s", "floor_text", "has_floors", "is_flushed", "product_floor_s"]


def has_floors(workspace: WorkspaceState) -> bool:
    """Return whether the targets in force recorded floors; before, documented roofs stood for them."""
    return workspace.targets is not None and "floors" in workspace.targets.work


def floor_s(workspace: WorkspaceState, *, cold: bool) -> dict[str, float]:
    """Return shape → least possible seconds; shapes of which nothing is known are left out.

    The larger of the recorded floor of its products (in workspaces that recorded none: useful operations over the
    documented peak), and compulsory bytes over the documented bandwidth, less what caches may keep: of what a
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
    """Return the recorded floor of the products of a shape, in seconds; None where there is none."""
    seconds = _recorded(workspace, shape).get("seconds")
    return None if seconds is None else Fraction(str(seconds))


def floor_text(workspace: WorkspaceState, shape: str, seconds: float) -> str:
    """Return what a floor rests on: the route of its products, or bytes, and why products add nothing."""
    route = str(_recorded(workspace, shape).get("route") or "documented rates")
    products = product_floor_s(workspace, shape)
    if products is not None and float(products) >= seconds:
        return route
    return f"bytes that device memory must move; products: {route}"


def _recorded(workspace: WorkspaceState, shape: str) -> Mapping[str, object]:
    floors = workspace.targets.work.get("floors") if workspace.targets is not None else None
    held = floors.get(shape) if isinstance(floors, Mapping) else None
    return held if isinstance(held, Mapping) else {}


def _computed(workspace: WorkspaceState, roofline: RecordedRoofline) -> list[Fraction | None]:
    """Return what the arithmetic of a shape takes at least."""
    if has_floors(workspace):
        return [product_floor_s(workspace, roofline.shape)]
    return [roofline.least_s(roof.name, "documented") for roof in roofline.ceilings if roof.is_engine]


def cache_bytes(workspace: WorkspaceState) -> Fraction | None:
    """Return what the caches before device memory hold together, in bytes; None when it is unknown."""
    known = ((key, Fraction(row.si)) for key, row in workspace.specs.items() if row.si is not None)
    return held_by(known, workspace.unknown)


def is_flushed(workspace: WorkspaceState, flush: int) -> bool:
    """Return whether so many bytes, written before each timed run, evict what the caches hold; 0: as many as needed."""
    held = cache_bytes(workspace)
    return not flush or (held is not None and flush >= held)
