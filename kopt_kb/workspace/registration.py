"""From the registry to events: the rows a workspace registers, and the targets computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.analysis.roofline.floor import ComputeFloor, compute_floor
from kopt_kb.analysis.roofline.roofline import Roofline, roofline
from kopt_kb.analysis.roofline.shortest import ShortestTime, shortest_time, target_s
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR, Aim, RoofTarget
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.citation import Citation, Location
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.wiki.apart import apart
from kopt_kb.wiki.lookup import Lookup, lookup
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.workspace.journal import setup_events as events

__all__ = [
    "TimeBounds",
    "citation_of",
    "conditions_of",
    "registered_rows",
    "rooflines",
    "specs_registered",
    "target_set",
]


_ALWAYS = (
    "sm_count", "sm_clock", "die_count", "memory_capacity", "memory_bandwidth", "l1_capacity", "l1_shared_pool",
    "l2_capacity", "llc_capacity", "shared_memory_per_sm", "shared_memory_per_block", "shared_memory_granule",
    "shared_memory_banks", "registers_per_sm", "registers_per_simd", "registers_per_thread", "registers_per_block",
    "register_granule", "warp_size", "warps_per_sm", "warps_per_simd", "threads_per_sm", "threads_per_block",
    "blocks_per_sm", "cache_line", "board_power", "compute_capability", "gfx_target",
)  # fmt: skip
"""Limits that decide about tiles, occupancy and footprints: registered with every workspace of the platform."""


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """What is known of the times of a problem beside its roofs.

    Attributes:
        shortest: Shapes whose target is shorter than this have no condition.
        floors: The least time of the products of each shape, in order; None for shapes without any.
        wiki: Where the rows were read, where that is not the packaged wiki.
    """

    shortest: ShortestTime
    floors: tuple[ComputeFloor | None, ...]
    wiki: str = ""

    @classmethod
    def of(cls, platform: Platform, found: Iterable[Roofline]) -> TimeBounds:
        """Return the bounds of each shape on a product."""
        floors = tuple(compute_floor(one.work, platform) for one in found)
        return cls(shortest_time(platform), floors, apart(platform))


def rooflines(
    problem: Problem, platform: Platform, *, min_grade: str | None = None, aim: Aim = TARGET_FACTOR
) -> list[Roofline]:
    """Return the roofline of each shape of a problem, with targets of this aim."""
    return [roofline(work, platform, min_grade=min_grade, aim=aim) for work in problem.works()]


def registered_rows(platform: Platform, found: Iterable[Roofline]) -> tuple[list[Row], Lookup]:
    """Return the rows to register, roofs and their parents first, each once; and the lookup they come from."""
    sheet = lookup(platform)
    by_key = {row.key: row for row in (*sheet.specs, *sheet.unknown)}
    keys = [citation.key for one in found for citation in one.citations()]
    keys += [row.key for row in by_key.values() if row.metric in _ALWAYS]
    return [by_key[key] for key in dict.fromkeys(keys) if key in by_key], sheet


def _reference(row: Row) -> events.CitationRef:
    return events.CitationRef(row.path, row.line, row.sha)


def _number(value: Fraction) -> str:
    """Return an exact number as the journal writes it: a decimal where that is exact, else a fraction."""
    scaled, digits = value, 0
    while scaled.denominator != 1 and digits <= 15:
        scaled, digits = scaled * 10, digits + 1
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    text = str(scaled.numerator).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text


def specs_registered(
    platform: Platform, found: Sequence[Roofline], placeholders: dict[str, str]
) -> events.SpecsRegistered:
    """Return the event that registers a platform's rows; UNKNOWN ones apart, with the user's placeholders."""
    rows, sheet = registered_rows(platform, found)
    values = tuple(_spec(row, sheet) for row in rows if row.kind in {"value", "token"})
    unknown = [
        events.UnknownRow(row.key, row.note("reason"), _reference(row), placeholders.get(row.key))
        for row in rows
        if row.kind == "unknown"
    ]
    needed = [one.unknown() for one in found]
    have = {row.key for row in unknown}
    for missing in needed:
        if missing is not None and missing.key and missing.key not in have:
            have.add(missing.key)
            unknown.append(events.UnknownRow(missing.key, missing.reason, None, placeholders.get(missing.key)))
    return events.SpecsRegistered(values, tuple(unknown))


def _spec(row: Row, sheet: Lookup) -> events.SpecRow:
    source = sheet.source(row)
    text = f"{source.title}, {source.locator}" if source.title else ""
    si = _number(row_value(row)) if row.kind == "value" else None
    return events.SpecRow(row.key, row.value, "" if row.unit == "-" else row.unit, si, row.grade, _reference(row), text)


def _condition(target: RoofTarget, shape: str) -> events.Target | None:
    if not isinstance(target.value, Quantity):
        return None
    value = target.value
    basis = value.citations()[0].key
    grades = tuple(sorted(value.grades()))
    number = Fraction(value.number)
    return events.Target(target.metric, ">=", _number(number), value.unit, basis, _number(target.factor), grades, shape)


def target_set(
    problem: Problem,
    found: Sequence[Roofline],
    *,
    reason: str,
    by: str,
    supersedes: int | None = None,
    aim: str = "",
    bounds: TimeBounds | None = None,
) -> events.TargetSet:
    """Return the event that sets one condition a shape, where its inputs are known, and the aggregate.

    Args:
        problem: Whose shapes.
        found: The roofline of each shape.
        reason: Why, in words.
        by: Who sets them.
        supersedes: Event of the targets that they replace.
        aim: The performance target in words that the rooflines carry, kept so that an audit can compute them again.
        bounds: What no target and no time may be below, to be recorded; None leaves both out.
    """
    names = [format_shape(shape) for shape in problem.shapes]
    conditions, short = conditions_of(names, found, None if bounds is None else bounds.shortest)
    sides = {one.bound for one in found}
    keys = tuple(dict.fromkeys(citation.key for one in found for citation in one.citations()))
    work: dict[str, object] = {"rooflines": [one.to_json() for one in found]}
    if aim:
        work["performance_target"] = aim
    if bounds is not None:
        floors = zip(problem.shapes, bounds.floors, strict=True)
        work |= {"wiki": bounds.wiki} if bounds.wiki else {}
        work["floors"] = {format_shape(shape): None if one is None else one.to_json() for shape, one in floors}
    if short and bounds is not None:
        work["too_short"] = {"shapes": short, "than": bounds.shortest.what}
    return events.TargetSet(
        work=work,
        ceiling_keys=keys,
        bound=sides.pop() if len(sides) == 1 else "mixed",
        targets=tuple(conditions),
        supersedes=supersedes,
        reason=reason,
        by=by,
    )


def conditions_of(
    shapes: Sequence[str], found: Sequence[Roofline], shortest: ShortestTime | None
) -> tuple[list[events.Target], list[str]]:
    """Return the conditions, the aggregate last, and the shapes whose target is too short for one."""
    conditions, short = [], []
    for shape, one in zip(shapes, found, strict=True):
        condition, at_target = _condition(one.target, shape), target_s(one)
        if condition is not None and at_target is not None and shortest is not None and at_target < shortest.seconds:
            short.append(shape)
        elif condition is not None:
            conditions.append(condition)
    grades = tuple(sorted({grade for one in conditions for grade in one.grades}))
    if conditions:
        conditions.append(
            events.Target(events.AGGREGATE, ">=", "1", "", "geomean of achieved / target", "1", grades, None)
        )
    return conditions, short


def unknown_needs(found: Iterable[Roofline]) -> tuple[Unknown, ...]:
    """Return what is missing for the targets, each once."""
    missing = [one.unknown() for one in found]
    return tuple({one.needs: one for one in missing if one is not None}.values())


def citation_of(row: events.SpecRow) -> Citation:
    """Return the citation of a registered value, as it was when it was registered."""
    at = row.citation
    return Citation(row.key, row.value, row.unit or "-", Location(at.path, at.line), at.row_sha256)
