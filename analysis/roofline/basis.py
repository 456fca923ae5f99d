"""What a roof rests on where nothing is documented: the vendor's own measurement, and rates that bound an engine."""

from __future__ import annotations

from typing import Literal

from kopt_kb.quantity.quantity import Quantity, given
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row

__all__ = ["Basis", "at_least", "attainable_words", "basis_name", "basis_words", "roof_words", "vendors_best"]

Basis = Literal["documented", "measured", "vendor_measured"]
"""A roof is documented, measured by ourselves, or, where nothing is documented, measured by its vendor."""

_HOW = ("pattern", "shape")


def basis_name(basis: str) -> str:
    """Return a basis in words, to stand alone."""
    return "vendor's own measurement" if basis == "vendor_measured" else basis


def basis_words(basis: str) -> str:
    """Return a basis in words, before the name of a roof."""
    return "vendor's own measurement of" if basis == "vendor_measured" else basis


def roof_words(basis: str) -> str:
    """Return what a share is of, in words."""
    return "the vendor's own measurement" if basis == "vendor_measured" else f"the {basis} roof"


def attainable_words(basis: str) -> str:
    """Return under which roofs a rate is attainable, in words."""
    return "the vendor's own measurement" if basis == "vendor_measured" else f"{basis} roofs"


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
