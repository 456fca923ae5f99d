"""Rooflines for people: the verdict with times first, then what it rests on; one row a product when compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.basis import attainable_words, basis_name, basis_words, roof_words
from kopt_kb.analysis.roofline.reach import MeasuredReach, Reach, RooflineInTime, RoofTime
from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.analysis.roofline.time_view import time_view
from kopt_kb.cli.kit.output import table
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.quantity.readable import duration, factor, percent, rounded, said, si
from kopt_kb.quantity.units import format_exact

if TYPE_CHECKING:
    from kopt_kb.launch.counts.kernel_roofline import KernelRoofline

__all__ = ["compared", "render", "render_kernel", "time_table"]

_BASES = {
    "documented": "documented roof",
    "measured": "roof as measured by ourselves",
    "vendor_measured": "vendor's own measurement, since nothing is documented",
    "reachable": "the best that anybody measured",
}
_COLUMNS = ("documented", "measured", "reachable")
"""Of the comparison; the vendor's own measurement stands in its target alone."""


def render(time: RooflineInTime) -> str:
    """Return one roofline as text for people."""
    found = time.found
    lines = [_title(found), "", "Verdict", *(f"  {text}" for text in _verdict(found, time.times))]
    lines += ["", "Work", table(_work_rows(found), indent=2, right=(1,), is_headed=False)]
    lines += [f"  {name}: {text}" for name, text in dict(found.work.definitions).items()]
    lines += ["", "Roofs", table(_roof_rows(found), indent=2, right=(2,), is_headed=False)]
    lines += ["", "Citations", *(f"  {citation}" for citation in found.citations())]
    notes = _notes(time)
    return "\n".join([*lines, *(["", "Notes", *(f"  {note}" for note in notes)] if notes else [])])


def _title(roofline: Roofline) -> str:
    shape = "x".join(map(str, roofline.work.shape))
    return " ".join(filter(None, (roofline.platform, roofline.work.op, shape, roofline.work.dtype)))


def _work_rows(roofline: Roofline) -> list[tuple[str, str, str]]:
    work = roofline.work
    rows: list[tuple[str, str, str]] = [
        (f"useful operations, {f.dtype} {f.engine}", si(f.useful.value, "FLOP"), f.useful.exactness) for f in work.flops
    ]
    rows += [
        (f"compulsory bytes, {b.level} {b.direction}", si(b.compulsory.value, "B"), b.compulsory.exactness)
        for b in work.bytes
    ]
    return rows + [(f"special functions, {s.function}", f"{s.count.value:,}", s.count.exactness) for s in work.special]


def _roof_rows(roofline: Roofline) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for ceiling in roofline.roofs():
        values: list[tuple[str, Quantity | Unknown]] = [("documented", ceiling.documented)]
        measured = basis_name("vendor_measured" if ceiling.is_vendors else "measured")
        values += [(measured, ceiling.measured)] if ceiling.measured is not None else []
        rows += [(ceiling.name, kind, _value(value), _grades(value), _where(value)) for kind, value in values]
    return rows


def _notes(time: RooflineInTime) -> list[str]:
    """Return the notes, those on a target only where it is the one that binds, and none that the verdict has said."""
    others = {target.name for target in time.found.targets} - {time.found.target.name}
    said = " is above the best known measurement "
    return [note for note in time.found.notes if said not in note or note.partition(":")[0] in others]


def _value(value: Quantity | Unknown) -> str:
    return "UNKNOWN" if isinstance(value, Unknown) else said(value)


def _grades(value: Quantity | Unknown) -> str:
    return "" if isinstance(value, Unknown) else ", ".join(sorted(value.grades()))


def _where(value: Quantity | Unknown) -> str:
    if isinstance(value, Unknown):
        return f"needs {', '.join(value.needs)}"
    return ", ".join(f"<gpu-wiki>/{one.location}" for one in value.citations()[:1])


def _verdict(roofline: Roofline, times: Reach) -> list[str]:
    ridge = "UNKNOWN" if isinstance(roofline.ridge, Unknown) else f"{format_exact(roofline.ridge.si, 4)} FLOP/B"
    name = "matrix" if "matrix" in roofline.limiter else "vector" if "vector" in roofline.limiter else "compute"
    lines = [
        f"bound       {roofline.bound}"
        + (f", by the {roofline.limiter} roof" if roofline.limiter else f" ({name} or memory roof UNKNOWN)")
        + f"; intensity {format_exact(roofline.intensity.si, 4)} FLOP/B, ridge {ridge}"
    ]
    target = roofline.target
    at = "" if times.target_s is None else f", {duration(times.target_s)}"
    lines.append(f"target      {target.line()}{at}  ({_basis(target.factor, target.basis, target.name)})")
    heads = ["least time", *[""] * len(times.least)]
    lines += [
        f"{head:<10}  {duration(each.seconds)}  ({_BASES[each.basis]}, {each.roof})"
        for head, each in zip(heads, times.least, strict=False)
    ]
    floor = times.floor
    if floor is not None:
        lines.append(f"floor       {duration(floor.seconds)}  ({floor.roof})")
    lines += [f"measured    {_judged(each, floor)}" for each in times.measured]
    lines += [f"warning     {text}" for text in times.warnings]
    for basis, value in roofline.attainable.items():
        shown = "UNKNOWN" if isinstance(value, Unknown) else f"{format_exact(value.to('TFLOPS').si / 10**12, 4)} TFLOPS"
        lines.append(f"attainable  {shown} ({attainable_words(basis)})")
    others = [each for each in roofline.targets if each is not target]
    return lines + [f"not binding {e.line()}  ({_basis(e.factor, e.basis, e.name)})" for e in others]


def _basis(share: object, basis: str, name: str) -> str:
    return f"{share if isinstance(share, str) else format_exact(share)} x {basis_words(basis)} {name}"  # type: ignore[arg-type]


def _judged(reach: MeasuredReach, floor: RoofTime | None) -> str:
    rate = "" if reach.rate is None else f", {si(reach.rate, reach.unit.replace('FLOP/s', 'FLOPS'))}"
    if reach.share is None or reach.gap_s is None:
        return f"{duration(reach.seconds)}{rate}; the roof of the target is UNKNOWN"
    share = f"{duration(reach.seconds)}{rate}: {percent(reach.share)} of {roof_words(reach.basis)}"
    if reach.share > 1 and reach.basis == "documented":
        if floor is not None and reach.seconds >= floor.seconds:
            return f"{share}, above the floor: other arithmetic ran than was declared, or writes stayed in a cache"
        return f"{share}; nothing is faster than that: check the time and the work"
    met = "no target to judge by"
    if reach.to_target is not None:
        met = "the target is met" if reach.to_target <= 1 else f"{factor(reach.to_target)} slower than the target"
    gap = f"{duration(abs(reach.gap_s))} {'above' if reach.gap_s >= 0 else 'below'} it"
    return f"{share}, {gap}, {met}"


def compared(rooflines: Sequence[RooflineInTime]) -> str:
    """Return one row a product and shape, with its citations and what to know about it below."""
    timed = any(one.times.measured for one in rooflines)
    head = ["product", "shape", "bound", "documented", "measured", "reachable", "target", "at target", "basis"]
    rows = [head + (["yours", "of roof", "slower"] if timed else [])]
    for one in rooflines:
        rows += _compared_rows(one, timed=timed)
    first = rooflines[0].found.work
    lines = [f"{first.op or 'work'} {first.dtype}: least times, and the time at the target", "", table(rows), ""]
    lines += [
        "documented, measured: least time under the documented roof, and under ours where the wiki has one",
        "reachable: by the best rate that anybody measured of the roof that binds; basis: the roof of the target",
    ]
    lines += (
        ["yours, of roof, slower: your time, its share of that roof, how much slower than at the target it is"]
        if timed
        else []
    )
    lines += ["", "Citations"]
    lines += dict.fromkeys(f"  {one.found.platform}: {each}" for one in rooflines for each in one.found.citations())
    notes = dict.fromkeys(
        f"  {roofline.found.platform}: {note}"
        for roofline in rooflines
        for note in (*roofline.times.warnings, *_notes(roofline))
    )
    return "\n".join([*lines, *(["", "Notes", *notes] if notes else [])])


def _compared_rows(time: RooflineInTime, *, timed: bool) -> list[list[str]]:
    found, times = time.found, time.times
    least = [duration(None if (each := times.of(basis)) is None else each.seconds) for basis in _COLUMNS]
    target = "UNKNOWN" if isinstance(found.target.value, Unknown) else f">= {found.target.value}"
    row = [found.platform, "x".join(map(str, found.work.shape)) or "-", found.limiter or "unknown", *least]
    row += [target, duration(times.target_s), basis_name(found.target.basis)]
    if not timed:
        return [row]
    return [[*row, duration(each.seconds), percent(each.share), factor(each.to_target)] for each in times.measured] or [
        [*row, "-", "-", "-"]
    ]


def render_kernel(roofline: KernelRoofline, times: Reach) -> str:
    """Return the roofline of a kernel with its occupancy and losses."""
    fitting, compiled = roofline.occupancy, roofline.compiled
    occupied = f"{percent(fitting.occupancy_fraction)}, {fitting.blocks_per_sm} block(s) an SM"
    lines = [
        render(RooflineInTime(roofline.roofline, times)),
        "",
        "Kernel",
        f"  compiled for {compiled.target}: {compiled.assembler.registers} registers, {compiled.shared_bytes} B shared",
        f"  occupancy {occupied}, limited by {', '.join(fitting.limiters)}",
    ]
    if roofline.counted is None:
        lines.append("  work: closed form of the operation that its file declares; its code can't be counted")
    if fitting.unknown:
        lines.append(f"  occupancy is an upper bound: {', '.join(fitting.unknown)} UNKNOWN")
    if roofline.quantisation is not None:
        losses = roofline.quantisation
        waves, both = rounded(losses.waves), percent(losses.efficiency)
        lines.append(f"  {losses.blocks} blocks are {waves} waves: at most {both} of a roof")
        if roofline.counted is not None:
            lines.append(f"  (waves {percent(losses.wave_efficiency)}, tiles {percent(losses.tile_efficiency)})")
    return "\n".join(lines)


def time_table(rooflines: Sequence[KernelRoofline]) -> str:
    """Return the time-based view of several kernels: least time, measured time, share of the whole."""
    names = [f"{one.roofline.platform} {one.name} {at}" for at, one in enumerate(rooflines, 1)]
    measured = {name: one.measured_s for name, one in zip(names, rooflines, strict=True) if one.measured_s is not None}
    view = time_view({name: one.roofline for name, one in zip(names, rooflines, strict=True)}, measured)
    rows = [("kernel", "least", "measured", "share", "limiter")]
    rows += [
        (one.name, duration(one.least_s), duration(one.measured_s), percent(one.share), one.limiter) for one in view
    ]
    return "\n\nTime\n" + table(rows, indent=2, right=(1, 2, 3))
