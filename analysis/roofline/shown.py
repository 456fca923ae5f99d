"""Rooflines as blocks of a report: the verdict with its times, the work, and every roof with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.basis import attainable_words, basis_name, basis_words, roof_words
from kopt_kb.base.markup.blocks import Bullets, Cell, CellText, FactsBlock, PageBlock, TableBlock
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.quantity.readable import duration, factor, percent, rounded, said, si

if TYPE_CHECKING:
    from kopt_kb.analysis.roofline.ceilings import Ceiling
    from kopt_kb.analysis.roofline.reach import MeasuredReach, Reach
    from kopt_kb.analysis.roofline.roofline import Roofline


__all__ = ["roofline_blocks", "roofline_title"]


def roofline_title(roofline: Roofline) -> str:
    """Return the work and its product on one line."""
    shape = "x".join(map(str, roofline.work.shape))
    return " ".join(filter(None, (roofline.work.op or "work", shape, roofline.work.dtype, "on", roofline.platform)))


def roofline_blocks(found: Roofline, times: Reach | None = None) -> tuple[PageBlock, ...]:
    """Return what a roofline says.

    Args:
        found: The roofline.
        times: What it means in seconds, with the times that were measured.
    """
    roofs = [row for ceiling in found.roofs() for row in _roof(ceiling)]
    blocks: list[PageBlock] = [FactsBlock(tuple(_verdict(found, times)))]
    blocks.append(TableBlock("Roofs", ("roof", "basis", "value", "grades"), tuple(roofs), frozenset({2})))
    work: list[tuple[CellText, ...]] = [
        (f"useful operations, {flop.dtype} {flop.engine}", si(flop.useful.value, "FLOP"), flop.useful.exactness)
        for flop in found.work.flops
    ]
    work += [
        (f"compulsory bytes, {one.level} {one.direction}", si(one.compulsory.value, "B"), one.compulsory.exactness)
        for one in found.work.bytes
    ]
    work += [
        (f"special functions, {one.function}", f"{one.count.value:,}", one.count.exactness)
        for one in found.work.special
    ]
    blocks.append(TableBlock("Work", ("what", "amount", "exactness"), tuple(work), frozenset({1})))
    told = [*(times.warnings if times is not None else ()), *found.notes]
    return (*blocks, Bullets(tuple(told))) if told else tuple(blocks)


def _verdict(roofline: Roofline, times: Reach | None) -> list[tuple[str, CellText]]:
    target, value = roofline.target, roofline.target.value
    sources = value.citation_texts if isinstance(value, Quantity) else ()
    limiter = f", by the {roofline.limiter} roof" if roofline.limiter else ""
    share = f"{rounded(target.factor)} x {basis_words(target.basis)} {target.name}"
    rows: list[tuple[str, CellText]] = [
        ("bound", f"{roofline.bound}{limiter}"),
        ("intensity", f"{rounded(roofline.intensity.si)} FLOP/B, ridge {_ridge(roofline)}"),
        ("target", Cell(target.line(), share, sources)),
    ]
    for basis, rate in roofline.attainable.items():
        shown = "UNKNOWN" if isinstance(rate, Unknown) else si(rate.si, "FLOP/s")
        rows.append((f"attainable, {attainable_words(basis)}", shown))
    if times is None:
        return rows
    least = [(basis_name(one.basis), Cell(duration(one.seconds), one.roof, one.citations)) for one in times.least]
    rows += [(f"least time, {name}", cell) for name, cell in least]
    rows.append(("time at the target", duration(times.target_s) if times.target_s is not None else "UNKNOWN"))
    return rows + [("measured", _measured(one)) for one in times.measured]


def _ridge(roofline: Roofline) -> str:
    return "UNKNOWN" if isinstance(roofline.ridge, Unknown) else f"{rounded(roofline.ridge.si)} FLOP/B"


def _measured(reach: MeasuredReach) -> Cell:
    rate = "" if reach.rate is None else f", {si(reach.rate, reach.unit)}"
    if reach.share is None:
        return Cell(f"{duration(reach.seconds)}{rate}; the roof of the target is UNKNOWN", tone="warn")
    share = f"{duration(reach.seconds)}{rate}: {percent(reach.share)} of {roof_words(reach.basis)}"
    if reach.share > 1 and reach.basis == "documented":
        return Cell(f"{share}; nothing is faster", tone="bad")
    if reach.to_target is None:
        return Cell(f"{share}, no target to judge by", tone="warn")
    met = "the target is met" if reach.to_target <= 1 else f"{factor(reach.to_target)} slower than the target"
    tone = "good" if reach.to_target <= 1 else "warn"
    return Cell(f"{share}, {met}", tone=tone)  # type: ignore[arg-type]


def _roof(ceiling: Ceiling) -> list[tuple[CellText, ...]]:
    rows: list[tuple[CellText, ...]] = []
    name, measured = ceiling.name, basis_name("vendor_measured" if ceiling.is_vendors else "measured")
    for basis, value in (("documented", ceiling.documented), (measured, ceiling.measured)):
        if isinstance(value, Unknown):
            rows.append((name, basis, Cell("UNKNOWN", f"needs {', '.join(value.needs)}", tone="warn"), "-"))
        elif value is not None:
            rows.append((name, basis, Cell(said(value), "", value.citation_texts), ", ".join(value.grade_names)))
    return rows
