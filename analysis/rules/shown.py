"""Verdicts as blocks of a report: the bottleneck with its proof, what is left to the roof, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.basis import basis_name
from kopt_kb.base.markup.blocks import Bullets, Cell, CellText, FactsBlock, PageBlock, TableBlock
from kopt_kb.base.markup.text import clipped
from kopt_kb.quantity.readable import percent

if TYPE_CHECKING:
    from kopt_kb.analysis.rules.verdict import Verdict


__all__ = ["verdict_blocks"]

_NEAR = 0.1


def verdict_blocks(verdict: Verdict, letters: int = 2000) -> tuple[PageBlock, ...]:
    """Return what a verdict says; `letters` is the most of each text."""
    rows: list[tuple[str, CellText]] = [
        ("bottleneck", Cell(verdict.bottleneck, f"rule {verdict.code}")),
        ("limiter", verdict.limiter),
        ("evidence", clipped(verdict.proof, letters)),
    ]
    rows += [(f"worth of {limiter}", clipped(str(worth), letters)) for limiter, worth in verdict.worth.items()]
    rows += [("doubt", Cell(clipped(each, letters), tone="warn")) for each in verdict.doubts]
    blocks: list[PageBlock] = [FactsBlock(tuple(rows))]
    near = [roof for roof in verdict.headroom if roof.of_limiter or roof.share >= _NEAR]
    if near:
        cells = tuple(
            (each.name, Cell(percent(each.share), "; ".join(each.notes), each.citations), basis_name(each.basis))
            for each in near
        )
        blocks.append(TableBlock("Rates of the run under roofs", ("roof", "reached", "basis"), cells, frozenset({1})))
    steps = [f"{step} ({verdict.advice.page})" for step in verdict.advice.steps] + [
        f"Record: {each}" for each in verdict.recording
    ]
    if not steps:
        return tuple(blocks)
    return (*blocks, Cell("What to try", tone="quiet"), Bullets(tuple(clipped(step, letters) for step in steps)))
