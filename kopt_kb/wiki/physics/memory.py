"""Rules on memory: bus times rate, visible capacity, sums over dies, link totals, achieved bandwidth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import (
    CLOCK_ROUNDING,
    EXACT,
    PRODUCT_TOLERANCE,
    Facts,
    PhysicsFinding,
    compare,
    one,
    printed_rounding,
    rows,
    value,
)
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["alike", "bandwidth", "die_sums", "link_totals", "measured_below_documented", "patterns", "visible_capacity"]

_BITS_PER_BYTE = 8


def _data_rate(facts: Facts) -> Fraction | None:
    """Return bits a second and pin: as printed, else memory clock x transfers a clock."""
    printed = value(facts, "memory_data_rate")
    if printed is not None:
        return printed
    clock = one(facts, "memory_clock")
    return None if clock is None else row_value(clock) * int(dict(clock.axes)["multiplier"].removeprefix("x"))


def bandwidth(facts: Facts) -> Iterator[PhysicsFinding]:
    """Memory bandwidth is bus width / 8 x data rate as far as its printed digits go, within 0.3 % to 2 %."""
    bus, data_rate = value(facts, "memory_bus_width"), _data_rate(facts)
    for row in rows(facts, "memory_bandwidth"):
        if row.grade == "derived":
            continue
        if bus is None or data_rate is None:
            missing = "memory_bus_width" if bus is None else "memory_data_rate or memory_clock"
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: {missing} is not known")
        else:
            expected = bus / _BITS_PER_BYTE * data_rate
            tolerance = min(PRODUCT_TOLERANCE, max(CLOCK_ROUNDING, printed_rounding(row) / expected))
            yield compare(row, expected, tolerance, "bus width / 8 * data rate")


_VISIBLE_RATE = Fraction(985, 1000)
"""Bus and memory clock that a device reports give 99.1 to 99.8 % of what its sheet rounds."""


def visible_capacity(facts: Facts) -> Iterator[PhysicsFinding]:
    """What a device reports is 99 to 100 % of the sheet's capacity (binary) and 98.5 to 100 % of its bandwidth."""
    top = value(facts, "memory_bandwidth")
    for row in rows(facts, "memory_bandwidth", config="visible"):
        if top is not None:
            good = _VISIBLE_RATE * top <= row_value(row) <= top
            yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} against the sheet's bandwidth")
    shipped = one(facts, "memory_capacity")
    for row in rows(facts, "memory_capacity", config="visible"):
        if shipped is None:
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: no shipped capacity")
            continue
        printed = Fraction(shipped.value)
        binary = printed * 1024**3 if shipped.unit in {"GB", "GiB"} else row_value(shipped)
        share = row_value(row) / binary
        outcome = "pass" if Fraction(99, 100) <= share <= 1 else "fail"
        yield PhysicsFinding(
            row, outcome, f"{row.key} is {float(share) * 100:.1f} % of the shipped {shipped.value} GiB"
        )


def die_sums(facts: Facts) -> Iterator[PhysicsFinding]:
    """Caches, processors and memory of the whole GPU are the number of dies times those of one die, exactly.

    Bandwidth, which sheets round, within 2 %.
    """
    for metric in ("l2_capacity", "llc_capacity", "sm_count", "memory_capacity", "memory_bandwidth"):
        tolerance = PRODUCT_TOLERANCE if metric == "memory_bandwidth" else EXACT
        for die in ("xcd", "gcd", "die"):
            part, count, whole = (
                value(facts, metric, scope=die),
                value(facts, "die_count", die=die),
                one(facts, metric),
            )
            if part is None or whole is None:
                continue
            if count is None:
                yield PhysicsFinding(whole, "not-checkable", f"{whole.key}: die_count[die={die}] is not known")
            else:
                yield compare(whole, part * count, tolerance, f"die_count * {metric}[scope={die}]")


def _total(facts: Facts, row: Row, link: str) -> Iterator[PhysicsFinding]:
    count = value(facts, "link_count", link=link)
    each = one(facts, "link_bandwidth", link=link, direction="both", scope="link")
    if count is None or each is None:
        yield PhysicsFinding(row, "not-checkable", f"{row.key}: link_count or the bandwidth of one link is not known")
    else:
        yield compare(row, count * row_value(each), PRODUCT_TOLERANCE, "link_count * bandwidth of one link")


def link_totals(facts: Facts) -> Iterator[PhysicsFinding]:
    """Both directions are twice each, and the total is the number of links times one link (2 %)."""
    for row in rows(facts, "link_bandwidth", direction="both"):
        link = dict(row.axes)["link"]
        if row.grade == "derived":
            continue
        each = one(facts, "link_bandwidth", link=link, direction="each")
        if each is not None:
            yield compare(row, 2 * row_value(each), PRODUCT_TOLERANCE, "twice one direction")
        yield from _total(facts, row, link)


def measured_below_documented(facts: Facts) -> Iterator[PhysicsFinding]:
    """No measured DRAM bandwidth is above the documented one."""
    top = value(facts, "memory_bandwidth")
    for row in rows(facts, "measured_bandwidth", level="dram"):
        if top is None:
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: memory_bandwidth is not known")
        else:
            above = row_value(row) > top
            detail = f"{row.key} = {row.value} {row.unit} is {'above' if above else 'below'} memory_bandwidth"
            yield PhysicsFinding(row, "fail" if above else "pass", detail)


_PATTERNS = Fraction(135, 100)
"""Reading, writing and copying the same bytes differ by up to 1.3 in what one author measures on one part."""


def patterns(facts: Facts) -> Iterator[PhysicsFinding]:
    """What one document measures at one level is alike for all patterns, and a level nearer the SM is the faster."""
    by_place: dict[tuple[str, str, str], list[Row]] = {}
    for row, axes in facts.by_metric.get("measured_bandwidth", ()):
        if not row.path.startswith("measured/"):
            for source in row.sources[:1]:
                by_place.setdefault((source.id, axes["level"], axes["bytes"]), []).append(row)
    for found in by_place.values():
        yield from alike(found, _PATTERNS)
    yield from _levels(by_place, value(facts, "memory_bandwidth") or Fraction(0))


def alike(found: list[Row], factor: Fraction) -> Iterator[PhysicsFinding]:
    """Pass each of several measurements of one author that is within the factor of their middle one."""
    middle = sorted(map(row_value, found))[len(found) // 2]
    for row in found if len(found) > 1 else ():
        near = max(row_value(row), middle) <= factor * min(row_value(row), middle)
        yield PhysicsFinding(row, "pass" if near else "fail", f"{row.key} beside the like of its document")


_NEARER = {"l1": "l2", "shared": "l2", "l2": "dram", "llc": "dram"}


def _levels(by_place: dict[tuple[str, str, str], list[Row]], nominal: Fraction) -> Iterator[PhysicsFinding]:
    best: dict[str, Fraction] = {"dram": nominal}
    for (_, level, _), found in by_place.items():
        best[level] = max([best.get(level, Fraction(0)), *map(row_value, found)])
    for (_, level, _), found in by_place.items():
        below = max(best.get(_NEARER.get(level, ""), Fraction(0)), nominal if level in _NEARER else Fraction(0))
        for row in found if below else ():
            good = row_value(row) >= below
            yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} against the level behind it")
