"""Rules on power: what a processor takes, the default cap beside the sheet, what a diagnostic asks for."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.wiki.physics.base import EXACT, PRODUCT_TOLERANCE, Facts, PhysicsFinding, compare, one, rows, value
from kopt_kb.wiki.sheet import row_value

__all__ = ["default_cap", "diagnostic_target", "power_a_processor", "round_watts"]

_WATTS_LEAST, _WATTS_MOST = 1, 12
"""Board power for each processor of every part of 2017 to 2026: 1.2 to 9.2 W."""


def power_a_processor(facts: Facts) -> Iterator[PhysicsFinding]:
    """Board power is 1 to 12 W for each processor."""
    count = value(facts, "sm_count")
    for kind in ("tdp", "cap_default", "cap_max"):
        for row in rows(facts, "board_power", kind=kind):
            if count is not None:
                each = row_value(row) / count
                good = _WATTS_LEAST <= each <= _WATTS_MOST
                detail = f"{row.key} = {row.value} {row.unit} is {float(each):.1f} W for each of {count} SMs"
                yield PhysicsFinding(row, "pass" if good else "fail", detail)


_STEP, _BELOW = 5, 1
"""Boards are sold by multiples of 5 W; a diagnostic asks for that or for 1 W less."""


def round_watts(facts: Facts) -> Iterator[PhysicsFinding]:
    """The power of a sheet, and of a cap that a device starts with, is a multiple of 5 W."""
    for kind, below in (("tdp", 0), ("cap_default", 0), ("cap_max", 0), ("diag_target", _BELOW)):
        for row, axes in facts.by_metric.get("board_power", ()):
            if axes.get("kind") == kind and row.grade != "derived":
                good = any((row_value(row) + less) % _STEP == 0 for less in range(below + 1))
                yield PhysicsFinding(
                    row, "pass" if good else "fail", f"{row.key} = {row.value} {row.unit} in steps of 5 W"
                )


def default_cap(facts: Facts) -> Iterator[PhysicsFinding]:
    """The cap that a device starts with is the power of its sheet, and no cap that can be set is below that (2 %)."""
    sheet = one(facts, "board_power", kind="tdp")
    if sheet is None:
        return
    for row in rows(facts, "board_power", kind="cap_default"):
        yield compare(row, row_value(sheet), EXACT, "the power of the sheet")
    for row in rows(facts, "board_power", kind="cap_max"):
        good = row_value(row) >= row_value(sheet) * (1 - PRODUCT_TOLERANCE)
        yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} against the power of the sheet")


def diagnostic_target(facts: Facts) -> Iterator[PhysicsFinding]:
    """A diagnostic asks for what a part may take: power of the sheet, default or highest cap, or 1 W less."""
    known = [
        row_value(row) for kind in ("tdp", "cap_default", "cap_max") for row in rows(facts, "board_power", kind=kind)
    ]
    for row in rows(facts, "board_power", kind="diag_target"):
        if not known:
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: no power of the part is known")
            continue
        good = any(0 <= each - row_value(row) <= _BELOW for each in known)
        watts = ", ".join(str(int(each)) for each in sorted(set(known)))
        yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} = {row.value} {row.unit} beside {watts} W")
