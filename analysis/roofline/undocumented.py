"""What stands in where nothing is documented: the vendor's own measurement, and rates an engine is known to reach."""

from __future__ import annotations

from kopt_kb.quantity.quantity import Quantity, given
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row

__all__ = ["at_least", "vendors_best"]

_HOW = ("pattern", "shape")


def vendors_best(platform: Platform, metric: str, **axes: str) -> Quantity | None:
    """Return the highest measurement that the product's vendor published, with method and pattern or shape.

    Its footprint may be unstated: AMD prints what a test of its profiler measures on an MI308X, not on how many bytes.
    """
    values = [platform.quantity(row) for row in platform.rows(metric, **axes) if _is_vendors(platform, row)]
    known = [value for value in values if isinstance(value, Quantity)]
    return max(known, key=lambda value: value.si, default=None)


def _is_vendors(platform: Platform, row: Row) -> bool:
    notes = platform.sheet.footnotes.get(row.path, {})
    publishers = {notes[source.id].publisher for source in row.sources if source.id in notes}
    how = [value for axis, value in row.axes if axis in _HOW]
    return (
        publishers == {platform.identity.vendor}
        and bool(row.note("method"))
        and not row.note("exception")
        and "unstated" not in how
    )


def at_least(platform: Platform, dtype: str, engine: str) -> Quantity | None:
    """Return a rate that an engine reaches although its peak is UNKNOWN; None where the wiki has no rows for one.

    Matrix engines: the vendor's acceptance limit. Vector engines: one multiply-add a lane and clock at the lowest known
    clock. It is no roof: the part may do more.
    """
    if engine == "matrix":
        return _highest(platform, "acceptance_compute", dtype=dtype)
    units, lanes = _highest(platform, "sm_count"), _highest(platform, "lanes_per_sm", dtype=dtype)
    clocks = [value for row in platform.rows("sm_clock") if isinstance(value := platform.quantity(row), Quantity)]
    if units is None or lanes is None or not clocks:
        return None
    rate = given(2, "op/clk", "one multiply-add") * units * lanes * min(clocks, key=lambda value: value.si)
    return rate if isinstance(rate, Quantity) else None


def _highest(platform: Platform, metric: str, **axes: str) -> Quantity | None:
    values = [platform.quantity(row) for row in platform.rows(metric, **axes)]
    known = [value for value in values if isinstance(value, Quantity)]
    return max(known, key=lambda value: value.si, default=None)
