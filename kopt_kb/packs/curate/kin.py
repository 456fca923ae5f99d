"""Pages beside each other: what all other targets of a vendor agree on, what products of one chip family share."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from kopt_kb.packs.curate.twins import beside_twins
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.physics.base import Facts, one, rows, value
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.wiki import Wiki

__all__ = ["odd_products", "odd_targets"]

_RULE = "KIN"
_LEAST = 4
"""So many targets of a vendor have to state a limit before one of them can be the odd one."""
_GENERATIONS = ("ops_per_clock_per_sm", "peak_compute")
"""What every generation changes: a value of its own is no sign of a slip there."""


def _declared(row: Row) -> bool:
    return any(tag == "exception" and text.startswith(f"{_RULE}:") for tag, text in row.notes)


def _stated(wiki: Wiki) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for path in wiki.pages("targets"):
        page = wiki.page(path)
        for row in page.rows if page is not None else ():
            if row.kind == "value" and row.chosen is not False and row.metric not in _GENERATIONS and page is not None:
                found[str(page.front.get("vendor")), row.key].append(row)
    return found


_ALIKE = 2
"""So many others of a line have to agree, all of them, before one can be the odd one."""
_LINES = re.compile(r"targets/(gfx9|gfx1|sm_\d+(?=\d\.md))")
"""Targets that share a design: one instruction set of AMD's, one major capability of NVIDIA's."""


def _odd_in_line(stated: list[Row]) -> set[Row]:
    """Return the rows that differ from all others of their line, which agree among themselves."""
    lines: dict[str, list[Row]] = defaultdict(list)
    for row in stated:
        if (found := _LINES.match(row.path)) is not None:
            lines[found[1]].append(row)
    odd = set()
    for members in lines.values():
        counts = Counter(row_value(row) for row in members)
        if len(counts) == 2 and len(members) > _ALIKE:
            odd |= {row for row in members if counts[row_value(row)] == 1}
    return odd


def odd_targets(wiki: Wiki) -> Iterator[Fault]:
    """Yield a fault for each limit of a target that no other target of its vendor, or of its line, has.

    Limits are copied from generation to generation: one that stands alone is new or mistyped. What is new declares
    `exception KIN: VALUE, why`.
    """
    for (vendor, _), stated in _stated(wiki).items():
        counts, in_line = Counter(row_value(row) for row in stated), _odd_in_line(stated)
        for row in stated:
            alone = (counts[row_value(row)] == 1 and len(stated) >= _LEAST) or row in in_line
            if alone and not _declared(row):
                among = "target of its line" if row in in_line else "target"
                message = f"{row.key} = {row.value}, no other {vendor} {among} says so"
                fix = f"read it again, or declare `exception {_RULE}: {row.value}, why`"
                yield Fault("WK406", row.path, row.line, message, fix)
            elif not alone and _declared(row):
                message = f"{row.key} is that of other targets too"
                yield Fault("WK303", row.path, row.line, message, "remove the exception")


_Ratio = Callable[[Facts], tuple[Row, Fraction] | None]


def _over(metric: str, below: str, **axes: str) -> _Ratio:
    """Return what reads a row and its ratio to another metric of the same page."""

    def ratio(facts: Facts) -> tuple[Row, Fraction] | None:
        row, other = one(facts, metric, **axes), one(facts, below)
        return None if row is None or other is None else (row, row_value(row) / row_value(other))

    return ratio


def _alone(metric: str, **axes: str) -> _Ratio:
    def ratio(facts: Facts) -> tuple[Row, Fraction] | None:
        row = one(facts, metric, **axes)
        return None if row is None else (row, row_value(row))

    return ratio


def _pin(facts: Facts) -> tuple[Row, Fraction] | None:
    row, clock, bus = one(facts, "memory_bandwidth"), one(facts, "memory_clock"), one(facts, "memory_bus_width")
    if row is not None and bus is not None:
        return row, row_value(row) * 8 / row_value(bus)
    if clock is None:
        return None
    return clock, row_value(clock) * int(dict(clock.axes)["multiplier"].removeprefix("x"))


def _of_target(identity: Identity, _: Facts) -> str:
    return identity.target


def _of_all(_: Identity, __: Facts) -> str:
    return "its kind"


def _of_memory(_: Identity, facts: Facts) -> str:
    return facts.memory_type.value if facts.memory_type is not None else ""


def _of_vendor(identity: Identity, facts: Facts) -> str:
    memory = _of_memory(identity, facts)
    return f"{identity.vendor} with {memory}" if memory else ""


def _of_both(identity: Identity, facts: Facts) -> str:
    memory = _of_memory(identity, facts)
    return f"{identity.target} with {memory}" if memory else ""


def _of_stacks(identity: Identity, facts: Facts) -> str:
    """Group what has stacked memory: its bandwidth changes by type and speed, not by the number of chips."""
    return _of_both(identity, facts) if facts.memory == "HBM" else ""


_DENSE = {"engine": "matrix", "sparsity": "dense", "dtype": "fp16"}


def _tensor(facts: Facts) -> tuple[Row, Fraction] | None:
    """Return the fastest half-precision matrix peak over the processors."""
    found, count = rows(facts, "peak_compute", **_DENSE), value(facts, "sm_count")
    row = max(found, key=row_value, default=None)
    return None if row is None or count is None else (row, row_value(row) / count)


def _measured(facts: Facts) -> Row | None:
    return one(facts, "measured_bandwidth", level="dram", pattern="unstated")


def _share(facts: Facts) -> tuple[Row, Fraction] | None:
    row, nominal = _measured(facts), value(facts, "memory_bandwidth")
    return None if row is None or nominal is None else (row, row_value(row) / nominal)


def _reached(facts: Facts) -> tuple[Row, Fraction] | None:
    """Return the best bf16 product that a third party measured, over the peak."""
    found = [row for row in rows(facts, "measured_compute", dtype="bf16", engine="matrix") if row.grade == "secondary"]
    row, peak = max(found, key=row_value, default=None), value(facts, "peak_compute", **{**_DENSE, "dtype": "bf16"})
    return None if row is None or peak is None else (row, row_value(row) / peak)


_CLOCK = {"class": "boost", "ops": "all"}
_MAXIMUM = {"class": "max", "ops": "all"}
_FAMILY: tuple[tuple[str, Callable[[Identity, Facts], str], _Ratio, Fraction], ...] = (
    ("matrix units of an SM", _of_target, _over("matrix_units", "sm_count"), Fraction(1)),
    ("bits a second of a pin", _of_memory, _pin, Fraction(13, 10)),
    ("bits a second of a pin", _of_vendor, _pin, Fraction(13, 10)),
    ("memory bandwidth", _of_stacks, _alone("memory_bandwidth"), Fraction(106, 100)),
    ("L2 behind a bit of the bus", _of_target, _over("l2_capacity", "memory_bus_width"), Fraction(103, 100)),
    ("L2 for each SM", _of_target, _over("l2_capacity", "sm_count"), Fraction(3, 2)),
    ("memory behind a bit of the bus", _of_memory, _over("memory_capacity", "memory_bus_width"), Fraction(31, 30)),
    ("half-precision matrix operations of an SM", _of_target, _tensor, Fraction(5, 4)),
    ("share of the memory bandwidth that is measured", _of_target, _share, Fraction(28, 25)),
    ("share of the matrix peak that is measured", _of_target, _reached, Fraction(5, 4)),
    (
        "link to the host processor",
        _of_all,
        _alone("host_bandwidth", link="nvlink_c2c", direction="both"),
        Fraction(51, 50),
    ),
    ("watts of an SM", _of_target, _over("board_power", "sm_count", kind="tdp"), Fraction(5, 4)),
    ("memory bandwidth of an SM", _of_target, _over("memory_bandwidth", "sm_count"), Fraction(5, 4)),
    ("boost clock", _of_target, _alone("sm_clock", **_CLOCK), Fraction(115, 100)),
    ("highest clock", _of_target, _alone("sm_clock", **_MAXIMUM), Fraction(12, 10)),
)
"""What products share: the words, who is compared, the number, and how far the nearest of kin may be."""


def odd_products(wiki: Wiki) -> Iterator[Fault]:
    """Yield a fault for each number that is far from that of every product of its kin.

    Kin are products of one target, or with one type of memory. What is new declares `exception KIN: VALUE, why`.
    """
    sheets = [(one, Facts(wiki.sheet(one))) for one in wiki.names.identities.values()]
    far: dict[Row, str] = {}
    for words, group, ratio, factor in _FAMILY:
        kin: dict[str, list[tuple[Row, Fraction]]] = defaultdict(list)
        for identity, facts in sheets:
            found, name = ratio(facts), group(identity, facts)
            if found is not None and name:
                kin[name].append(found)
        for name, members in kin.items():
            for row in _far(members, factor):
                far.setdefault(row, f"{words} of {row.key} = {row.value} {row.unit}: far from all others of {name}")
    for row, message in (
        *_out_of_order(sheets),
        *_parts(sheets),
        *_unbounded(sheets),
        *_outer_caches(sheets),
        *_families(sheets),
        *beside_twins(sheets),
    ):
        far.setdefault(row, message)
    yield from _judged(far, (row for _, facts in sheets for row in _product_rows(facts)))


_FREE_AXES = ("acc", "clock", "bytes", "shape", "data", "subsystem", "multiplier", "pattern", "link")
_ORDER = 2
"""Beyond twice the largest, or under half of the smallest of all other parts, a unit was mistaken."""
_MANY = 4


def _out_of_order(sheets: list[tuple[Identity, Facts]]) -> Iterator[tuple[Row, str]]:
    """Yield each row that is over twice the largest or under half of the smallest of all other products."""
    same: dict[tuple[str, ...], dict[Row, Fraction]] = defaultdict(dict)
    for _, facts in sheets:
        for row in _product_rows(facts):
            fixed = [f"{name}={text}" for name, text in row.axes if name not in _FREE_AXES]
            same[row.metric, *fixed][row] = row_value(row)
    for (metric, *_), found in same.items():
        ordered = sorted(found.values())
        for row, number in found.items() if len(found) > _MANY else ():
            low, high = ordered[number == ordered[0]], ordered[-2 if number == ordered[-1] else -1]
            if not low <= number * _ORDER or not number <= high * _ORDER:
                yield row, f"{row.key} = {row.value} {row.unit}: beyond all other products' {metric}"


_PARTS = ("config=full", "scope=xcd", "scope=gcd", "scope=die")


def _parts(sheets: list[tuple[Identity, Facts]]) -> Iterator[tuple[Row, str]]:
    """Yield each number of a full chip or of one die that no other product of the target shares."""
    same: dict[tuple[str, str], dict[Row, Fraction]] = defaultdict(dict)
    for identity, facts in sheets:
        for row in _product_rows(facts):
            if any(part in row.key for part in _PARTS):
                same[identity.target, row.key][row] = row_value(row)
    for (target, _), found in same.items():
        counts = Counter(found.values())
        for row, number in found.items() if len(found) > 1 else ():
            if counts[number] == 1:
                yield row, f"{row.key} = {row.value} {row.unit}: no other product of {target} says so"


_APART = Fraction(27, 20)
"""How far measurements of the memories of one target may be apart, the nearest of them."""


def _unbounded(sheets: list[tuple[Identity, Facts]]) -> Iterator[tuple[Row, str]]:
    """Yield each measurement of a memory whose bandwidth nobody prints that is far from all of its target."""
    found: dict[str, list[tuple[Row, Facts]]] = defaultdict(list)
    for identity, facts in sheets:
        if (row := _measured(facts)) is not None:
            found[identity.target].append((row, facts))
    for target, members in found.items():
        for row, facts in members:
            if value(facts, "memory_bandwidth") is None:
                alike = [other for other, has in members if other is row or _as_large(facts, has)]
                if row in _far([(other, row_value(other)) for other in alike], _APART):
                    yield row, f"{row.key} = {row.value} {row.unit}: far from what is measured of others of {target}"


def _as_large(facts: Facts, other: Facts) -> bool:
    """Return whether two parts have as much memory, as far as both say."""
    mine, its = value(facts, "memory_capacity"), value(other, "memory_capacity")
    return mine is None or its is None or mine == its


def _outer_caches(sheets: list[tuple[Identity, Facts]]) -> Iterator[tuple[Row, str]]:
    """Yield the memory-side caches of parts with as many processors of one target that are not alike."""
    same: dict[tuple[str, Fraction], list[Row]] = defaultdict(list)
    for identity, facts in sheets:
        row, count = one(facts, "llc_capacity"), value(facts, "sm_count")
        if row is not None and count is not None:
            same[identity.target, count].append(row)
    for (target, count), members in same.items():
        if len({row_value(row) for row in members}) > 1:
            for row in members:
                yield row, f"{row.key} = {row.value} {row.unit}: other parts of {target} with {count} have another"


def _families(sheets: list[tuple[Identity, Facts]]) -> Iterator[tuple[Row, str]]:
    """Yield the type of memory that no other part of a target has: its controller is for stacks, chips or modules."""
    same: dict[str, list[tuple[Row, str]]] = defaultdict(list)
    for identity, facts in sheets:
        if (row := facts.memory_type) is not None:
            same[identity.target].append((row, row.value[:3]))
    for target, members in same.items():
        counts = Counter(kind for _, kind in members)
        for row, kind in members if len(members) > _ALIKE else ():
            if counts[kind] == 1:
                yield row, f"{row.key} = {row.value}: no other product of {target} has such memory"


_PAIR_ROOM = Fraction(11, 10)
"""Where there is one other only, a tenth more is let pass; both are named then, for neither is the odd one."""


def _far(members: list[tuple[Row, Fraction]], factor: Fraction) -> Iterator[Row]:
    """Yield the rows that have no other member within the factor."""
    room = factor * _PAIR_ROOM if len(members) == _ALIKE else factor
    for at, (row, number) in enumerate(members):
        others = [other for place, (_, other) in enumerate(members) if place != at]
        if others and not any(max(number, other) <= room * min(number, other) for other in others):
            yield row


def _product_rows(facts: Facts) -> Iterator[Row]:
    for found in facts.by_metric.values():
        yield from (row for row, _ in found if row.path.startswith("hardware/"))


def _judged(far: dict[Row, str], known: Iterable[Row]) -> Iterator[Fault]:
    for row, message in far.items():
        if not _declared(row) and row.path.startswith("hardware/"):
            fix = f"read it again, or declare `exception {_RULE}: {row.value}, why`"
            yield Fault("WK406", row.path, row.line, message, fix)
    for row in known:
        if _declared(row) and row not in far:
            yield Fault("WK303", row.path, row.line, f"{row.key} is near its kin", "remove the exception")
