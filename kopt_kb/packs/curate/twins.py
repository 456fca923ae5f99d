"""Products beside their twins: parts of one target with as many processors, of one form, of one memory interface."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction

from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.physics.base import Facts, one, rows, value
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["beside_twins"]

_Sheets = list[tuple[Identity, Facts]]
_Odd = Iterator[tuple[Row, str]]
_LINE = re.compile(r"sm_\d+(?=\d)|gfx\d+(?=..)")
"""One design is a major capability or instruction set of one architecture: 8.6 and 8.9 are of two."""


def _line(identity: Identity) -> str:
    found = _LINE.match(identity.target)
    return f"{found[0] if found is not None else identity.target} {identity.arch.partition(' ')[0]}"


def _groups(sheets: _Sheets, key: Callable[[Identity, Facts], tuple[object, ...]]) -> list[_Sheets]:
    found: dict[tuple[object, ...], _Sheets] = defaultdict(list)
    for identity, facts in sheets:
        name = key(identity, facts)
        if None not in name:
            found[name].append((identity, facts))
    return [members for members in found.values() if len(members) > 1]


def _near(row: Row, other: Fraction, factor: Fraction) -> bool:
    number = row_value(row)
    return max(number, other) <= factor * min(number, other)


def _alone(members: list[Row], factor: Fraction, words: str) -> _Odd:
    """Yield the rows that no other is near to; of two that differ both are named."""
    for at, row in enumerate(members):
        others = members[:at] + members[at + 1 :]
        if others and not any(_near(row, row_value(other), factor) for other in others):
            yield row, f"{row.key} = {row.value} {row.unit}: {words} {', '.join(sorted({r.path for r in others})[:3])}"


_SAME = Fraction(1)
_ROUNDED = Fraction(51, 50)
_FORM = re.compile(r"_(SXM|PCIE)")
_OF_A_FORM = Fraction(5, 4)
_PIN = Fraction(27, 20)
_BEHIND = Fraction(13, 10)


def _l2(sheets: _Sheets) -> _Odd:
    """Parts of one line with as many processors on as wide a bus have one L2; with no known bus that of another."""
    for members in _groups(
        sheets, lambda who, has: (_line(who), value(has, "sm_count"), value(has, "memory_bus_width"))
    ):
        found = [row for _, has in members if (row := one(has, "l2_capacity")) is not None]
        yield from _alone(found, _SAME, "another L2 on as many SMs and as wide a bus:")
    for members in _groups(sheets, lambda who, has: (_line(who), value(has, "sm_count"))):
        for identity, has in members:
            row = one(has, "l2_capacity") if value(has, "memory_bus_width") is None else None
            others = [value(its, "l2_capacity") for other, its in members if other is not identity]
            known = {number for number in others if number is not None}
            if row is not None and known and row_value(row) not in known:
                yield row, f"{row.key} = {row.value} {row.unit}: no other part of its line with as many SMs has that"


def _outer(sheets: _Sheets) -> _Odd:
    """A memory-side cache is as many times the L2 as on other parts of the target."""
    found: dict[str, list[tuple[Row, Fraction]]] = defaultdict(list)
    for identity, facts in sheets:
        row, inner = one(facts, "llc_capacity"), value(facts, "l2_capacity")
        if row is not None and inner is not None:
            found[identity.target].append((row, row_value(row) / inner))
    for members in found.values():
        for row, times in members:
            others = [other for its, other in members if its is not row]
            if others and not any(max(times, other) <= _BEHIND * min(times, other) for other in others):
                yield row, f"{row.key} = {row.value} {row.unit}: {float(times):.0f} times the L2, unlike its target's"


def _watts(sheets: _Sheets) -> _Odd:
    """Modules of one target take alike, and so do its cards."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for identity, facts in sheets:
        form = _FORM.search(identity.platform)
        for kind in ("tdp", "diag_target") if form is not None else ():
            row = one(facts, "board_power", kind=kind)
            if row is not None and form is not None:
                found[identity.target, form[1]].append(row)
    for members in found.values():
        yield from _alone(members, _OF_A_FORM, "far from the power of")


def _rates(sheets: _Sheets) -> _Odd:
    """A part whose clock nobody prints has the matrix rate of one with as many processors of its target."""
    for members in _groups(sheets, lambda who, has: (who.target, value(has, "sm_count"))):
        for identity, has in members:
            if any(has.by_metric.get("sm_clock", ())):
                continue
            for row in rows(has, "peak_compute", engine="matrix"):
                same = {name: text for name, text in row.axes if name not in {"acc", "clock"}}
                others = [
                    row_value(its)
                    for other, facts in members
                    if other is not identity
                    for its in rows(facts, "peak_compute", **same)
                ]
                if others and not any(_near(row, number, _ROUNDED) for number in others):
                    yield row, f"{row.key} = {row.value} {row.unit}: far from parts of its target with as many SMs"


def _pin(facts: Facts) -> tuple[Row, Fraction] | None:
    printed, clock = one(facts, "memory_data_rate"), one(facts, "memory_clock")
    if printed is not None:
        return printed, row_value(printed)
    if clock is None:
        return None
    return clock, row_value(clock) * int(dict(clock.axes)["multiplier"].removeprefix("x"))


def _pins(sheets: _Sheets) -> _Odd:
    """The pins of a memory whose type nobody prints are about as fast as others of the target."""
    for members in _groups(sheets, lambda who, _: (who.target,)):
        found = [(has, pin) for _, has in members if (pin := _pin(has)) is not None]
        for has, (row, number) in found:
            others = [other for its, (_, other) in found if its is not has]
            far = not any(max(number, other) <= _PIN * min(number, other) for other in others)
            if has.memory_type is None and others and far:
                yield row, f"{row.key} = {row.value} {row.unit}: no other part of its target has such pins"


def _bounded(sheets: _Sheets) -> _Odd:
    """What is measured, or asked for, where nobody prints a peak is not above the highest peak of the target."""
    tops: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for identity, facts in sheets:
        for row in rows(facts, "peak_compute", sparsity="dense"):
            at = identity.target, dict(row.axes)["dtype"]
            tops[at] = max(tops[at], row_value(row))
    for identity, facts in sheets:
        for metric in ("measured_compute", "acceptance_compute"):
            for row in rows(facts, metric):
                dtype = dict(row.axes)["dtype"]
                own = any(rows(facts, "peak_compute", dtype=dtype, sparsity="dense"))
                top = tops.get((identity.target, dtype))
                if not own and top is not None and row_value(row) > top:
                    yield row, f"{row.key} = {row.value} {row.unit}: above every peak of {identity.target}"
    yield from _nearer_levels(sheets)


def _nearer_levels(sheets: _Sheets) -> _Odd:
    """A cache is not measured slower than the slowest memory of its target where nobody prints the part's own."""
    slowest: dict[str, Fraction] = {}
    for identity, facts in sheets:
        if (top := value(facts, "memory_bandwidth")) is not None:
            slowest[identity.target] = min(slowest.get(identity.target, top), top)
    for identity, facts in sheets:
        least = slowest.get(identity.target)
        for level in ("l1", "l2", "llc") if least is not None and value(facts, "memory_bandwidth") is None else ():
            for row in rows(facts, "measured_bandwidth", level=level):
                if least is not None and row_value(row) < least:
                    yield row, f"{row.key} = {row.value} {row.unit}: under every memory of {identity.target}"


def beside_twins(sheets: _Sheets) -> _Odd:
    """Yield each row that the nearest relatives of its product contradict, with what is odd about it."""
    for rule in (_l2, _outer, _watts, _rates, _pins, _bounded):
        yield from rule(sheets)
