"""A campaign's report as blocks of a notebook and as rows of a table, from the report alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kopt_kb.base.frames import Record
from kopt_kb.base.markup.blocks import Cell, CellText, FactsBlock, PageBlock, TableBlock
from kopt_kb.quantity.readable import duration, gain, reached

if TYPE_CHECKING:
    from kopt_kb.tuning.report import CampaignReport


__all__ = ["COLUMNS", "gained", "headline", "records_of", "report_blocks"]

COLUMNS = (
    "round", "category", "claim", "decision", "rule", "gain_pct", "refuted", "trust", "shape", "median_s", "is_best",
)  # fmt: skip


def gained(report: CampaignReport) -> str:
    """Return the sentence of a campaign's gain, with the level that it rests on; empty where there is none."""
    if report.gain_pct is None or report.best == report.baseline:
        return ""
    level = f" ({report.level})" if report.level else ""
    return f"best {report.best}: {gain(report.gain_pct)} against the baseline {report.baseline}{level}"


def headline(report: CampaignReport) -> tuple[str, bool | None]:
    """Return what a campaign came to in one line, and whether every target is met; None where nobody can tell."""
    words = []
    if gained(report):
        words.append(gained(report))
    elif report.best:
        words.append(f"best {report.best}, the baseline" if report.best == report.baseline else f"best {report.best}")
    if report.conditions is None:
        return "; ".join([*words, f"Stop Conditions not evaluable: {report.why_not}"]), None
    judged = report.conditions.judged
    met = sum(one.met for one in judged)
    words.append(f"{met} of {len(judged)} targets met")
    if report.conditions.aggregate is not None:
        words.append(f"achieved over target {reached(report.conditions.aggregate)} (geometric mean)")
    return "; ".join(words), bool(judged) and met == len(judged)


def records_of(report: CampaignReport) -> list[Record]:
    """Return one row a round and shape; a round without a time has one row, its shape and median None."""
    rows: list[Record] = []
    for round_ in report.rounds:
        own = (
            round_.number,
            round_.category,
            round_.claim,
            round_.decision,
            round_.rule,
            round_.gain_pct,
            round_.refuted,
            round_.trust,
        )
        for shape, median_s in round_.medians_s.items() or ((None, None),):
            values = (*own, shape, median_s, f"v{round_.number}" == report.best)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def _if(name: str, text: str) -> tuple[tuple[str, str], ...]:
    return ((name, text),) if text else ()


def report_blocks(report: CampaignReport) -> tuple[PageBlock, ...]:
    """Return headline, conditions and rounds."""
    said, met = headline(report)
    stood = report.state if report.stop is None else f"{report.state}, stopped: {report.stop.reason}"
    blocks: list[PageBlock] = [
        Cell(said, tone="good" if met else "warn"),
        FactsBlock(
            (("stands", stood), ("policy", report.policy), *_if("gains", report.level), *_if("wiki", report.wiki))
        ),
    ]
    if report.conditions is not None:
        rows: tuple[tuple[CellText, ...], ...] = tuple(
            (
                one.condition.shape,
                one.condition.target,
                duration(one.median_s),
                reached(one.ratio),
                "yes" if one.met else "no",
                Cell(one.level or "unstated", one.record),
            )
            for one in report.conditions.judged
        )
        head = ("shape", "target", "median", "achieved / target", "met", "trust")
        blocks.append(TableBlock("Stop Conditions", head, rows, frozenset({2, 3})))
    rounds: tuple[tuple[CellText, ...], ...] = tuple(
        (
            str(round_.number),
            f"{round_.category}: {round_.claim}",
            "refuted" if round_.refuted else round_.decision,
            gain(round_.gain_pct),
            round_.trust,
            round_.rule,
        )
        for round_ in report.rounds
    )
    columns = ("round", "hypothesis", "decision", "gain", "trust", "rule")
    return (*blocks, TableBlock("Rounds", columns, rounds, frozenset({0, 3}))) if rounds else tuple(blocks)
