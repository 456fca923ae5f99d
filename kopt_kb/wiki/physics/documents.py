"""Rules on what one document prints: all of its rates are computed with one clock."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import Facts, PhysicsFinding, printed_rounding, rows, value
from kopt_kb.wiki.physics.peaks import operations
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["one_clock"]

_OWN_CLOCK = {"fp64"}
"""Vendors print double precision for a clock of its own."""


def _operations(facts: Facts, axes: dict[str, str]) -> Fraction | None:
    """Return operations a clock and SM of a type, as far as one number is known."""
    per_clock = operations(facts, axes)
    if not per_clock and axes["engine"] == "vector" and axes["sparsity"] == "dense":
        lanes = value(facts, "lanes_per_sm", dtype=axes["dtype"])
        per_clock = set() if lanes is None else {2 * lanes}
    return per_clock.pop() if len(per_clock) == 1 else None


def _bounds(row: Row, per_clock: Fraction) -> tuple[Fraction, Fraction]:
    """Return SMs x clock as the printed digits leave it: rounded up, down or to the nearest."""
    unit = 2 * printed_rounding(row)
    return (row_value(row) - unit) / per_clock, (row_value(row) + unit) / per_clock


def _excepted(row: Row) -> bool:
    """Whether a row says why it is not SMs x operations x clock."""
    return any(tag == "exception" and text.startswith(("PHY-RATE:", "PHY-LANES:")) for tag, text in row.notes)


def one_clock(facts: Facts) -> Iterator[PhysicsFinding]:
    """Rates that a document prints for one clock and engine are the same SMs x clock, as far as their digits go."""
    by_document: dict[tuple[str, ...], list[tuple[Row, Fraction]]] = {}
    for row in rows(facts, "peak_compute"):
        axes = dict(row.axes)
        if row.grade == "derived" or axes["dtype"] in _OWN_CLOCK or not row.sources or _excepted(row):
            continue
        per_clock = _operations(facts, axes)
        if per_clock is not None:
            by_document.setdefault((row.sources[0].id, axes["clock"], axes["engine"]), []).append((row, per_clock))
    for found in by_document.values():
        if len(found) > 1:
            yield from _alike(found)


def _alike(found: list[tuple[Row, Fraction]]) -> Iterator[PhysicsFinding]:
    """Pass each rate whose SMs x clock meet those of most others of its document."""
    places = [(row, *_bounds(row, per_clock)) for row, per_clock in found]
    meets = [sum(low <= top and bottom <= high for _, bottom, top in places) - 1 for _, low, high in places]
    for (row, low, high), count in zip(places, meets, strict=True):
        good = 2 * count >= max(*meets, 1)
        detail = f"{row.key} = {row.value} {row.unit} needs {float(low) / 1e9:.2f} to {float(high) / 1e9:.2f} GHz x SMs"
        yield PhysicsFinding(row, "pass" if good else "fail", f"{detail}, others of its document do not")
