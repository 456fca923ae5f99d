"""In which conditions a row really differs from what was asked for."""

from __future__ import annotations

from kopt_kb.wiki.row import Row
from kopt_kb.wiki.vocabulary import AXIS_DEFAULTS

__all__ = ["differing"]


def differing(row: Row, wanted: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return (axis, wanted, ours) of the conditions that really differ; silence is no difference."""
    have = {**AXIS_DEFAULTS, **dict(row.axes)}
    full = {**AXIS_DEFAULTS, **wanted}
    found = [(axis, full[axis], have.get(axis, "")) for axis in full if full[axis] != have.get(axis, "")]
    return [one for one in found if not _silent(*one)]


def _silent(axis: str, wanted: str, have: str) -> bool:
    if axis in {"acc", "clock"}:
        return "unstated" in {wanted, have}
    return axis == "ops" and "all" in {wanted, have}
