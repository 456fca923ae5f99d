"""The rounds of a campaign, where the time of its best version goes, and what is left to try."""

from __future__ import annotations

from collections.abc import Sequence

from kopt_kb.analysis.gap.document import Gap
from kopt_kb.base.markup.blocks import Bullets, Cell, CellText, PageBlock, Section, TableBlock
from kopt_kb.base.markup.text import clipped
from kopt_kb.quantity.readable import duration, gain, percent
from kopt_kb.tuning.page.fitted import CutLevel
from kopt_kb.tuning.page.provenance import named, of_records
from kopt_kb.tuning.report import CampaignReport, RoundLine
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["gap_section", "ledger_section", "measurement_section", "round_section"]

_TONES = {"accept": "good", "accept_with_note": "good", "rollback": "quiet", "unverified": "warn", "open": "warn"}
_FAILED = 300


def round_section(report: CampaignReport, state: WorkspaceState, level: CutLevel) -> Section:
    """Return all rounds, or where they are too many for one page the accepted and the last.

    Args:
        report: Their decisions and gains.
        state: Their hypotheses, gates, records and profiles.
        level: How many, and how much of each.
    """
    shapes = list(dict.fromkeys(shape for one in report.rounds for shape in one.medians_s))
    shown, left_out = _chosen(report.rounds, level.rows)
    by_number = {one.number: one for one in state.rounds}
    head = ("round", "hypothesis", "verdict", "gain", *shapes, "trust", "evidence")
    rows = [_row(one, by_number[one.number], state, shapes, level) for one in shown]
    table = TableBlock(
        "In order; the gain is against the version it started from, times are medians of the round's own version",
        head, tuple(rows), frozenset({0, 3, *range(4, 4 + len(shapes))}),
    )  # fmt: skip
    blocks: list[PageBlock] = [table] if rows else [Cell("No round has begun.")]
    if left_out:
        blocks.append(
            Cell(f"{left_out} rounds that changed nothing are left out; kb tune report --json has all.", tone="warn")
        )
    return Section("Rounds", tuple(blocks))


def _chosen(rounds: Sequence[RoundLine], most: int) -> tuple[list[RoundLine], int]:
    if len(rounds) <= most:
        return list(rounds), 0
    kept = [one.number for one in rounds if one.decision in {"accept", "accept_with_note"}][-most // 2 :]
    last = [one.number for one in rounds if one.number not in kept][-(most - len(kept)) :]
    wanted = {*kept, *last}
    return [one for one in rounds if one.number in wanted], len(rounds) - len(wanted)


def _row(
    line: RoundLine, round_: Round, state: WorkspaceState, shapes: Sequence[str], level: CutLevel
) -> tuple[CellText, ...]:
    letters, notes = level.letters, level.notes
    expected = round_.hypothesis.expected if round_.hypothesis is not None else ""
    by = f"by {clipped(round_.hypothesis.proposer, letters)}" if round_.hypothesis is not None else ""
    said = Cell(
        clipped(f"{line.category}: {line.claim}", letters),
        "\n".join(filter(None, (clipped(f"expected: {expected}", letters) if expected else "", by))),
    )
    times = [
        Cell(duration(line.medians_s.get(shape)), of_records(state, round_, shape) if notes else "") for shape in shapes
    ]
    rests = named(round_.decided.measured) if round_.decided is not None else ""
    gained = Cell(gain(line.gain_pct), f"rests on {rests}" if rests and line.gain_pct is not None and notes else "")
    return (
        str(line.number),
        said,
        _verdict(line, round_, letters),
        gained,
        *times,
        line.trust,
        _evidence(round_, state, letters),
    )


def _verdict(line: RoundLine, round_: Round, letters: int) -> Cell:
    words = "refuted" if line.refuted else line.decision.replace("_", " ")
    words += f" ({clipped(line.rule, letters)})" if line.rule else ""
    if line.reason:
        words += f": {clipped(line.reason, min(letters, _FAILED))}"
    over = (
        f"decided by {clipped(round_.decided.policy, letters)}, event {round_.decided_seq}"
        if round_.decided is not None
        else ""
    )
    tone = "bad" if line.refuted else _TONES.get(line.decision, "")
    return Cell(words, over, tone=tone)  # type: ignore[arg-type]


def _evidence(round_: Round, state: WorkspaceState, letters: int) -> Cell:
    """Return gates, records and profiles that a decision rests on."""
    passed = [gate.gate for gate in round_.gates.values() if gate.result == "pass"]
    others = [f"{gate.gate} {gate.result}" for gate in round_.gates.values() if gate.result != "pass"]
    parts = [f"passed {', '.join(passed)}" if passed else "", ", ".join(others)]
    if round_.decided is not None:
        count = len(round_.decided.measured)
        parts.append(f"{f'{count} records' if count else 'nothing measured'}, event {round_.decided_seq}")
    own = [*round_.profiles, *(state.profiles_of(round_).values() if round_.snapshot is not None else ())]
    parts += dict.fromkeys(f"{one.tool}: {one.code}" for one in own)
    notes = [f"{gate.gate}: {gate.reason}" for gate in round_.gates.values() if gate.reason]
    return Cell(clipped("; ".join(filter(None, parts)), letters), clipped("\n".join(notes), letters))


def measurement_section(state: WorkspaceState, level: CutLevel) -> Section:
    """Return the records behind the times: of accepted versions first kept, where they are too many."""
    found = [one for round_ in state.rounds for one in round_.measured.values() if one.candidate == round_.name]
    if not found or not level.notes:
        text = "kb tune report --json and the journal have every record." if found else "Nothing was timed."
        return Section("Measurements", (Cell(text, tone="quiet"),))
    accepted = {one.name for one in state.rounds if one.accepted}
    shown = sorted(found, key=lambda one: one.candidate not in accepted)[: level.rows]
    rows: list[tuple[CellText, ...]] = [
        (
            clipped(one.id, level.letters),
            str(one.n),
            duration(one.median_s),
            _spread(one),
            one.source.beside(one.trust),
            str(one.environment),
        )
        for one in found
        if one in shown
    ]
    head = ("record", "timed runs", "median", "spread", "trust", "machine, event")
    table = TableBlock("Records of each version in its own round", head, tuple(rows), frozenset({1, 2, 5}))
    more = len(found) - len(rows)
    return Section(
        "Measurements", (table, *((Cell(f"{more} more are left out; the journal has them."),) if more else ()))
    )


def _spread(measured: Measured) -> str:
    return (
        ", ".join(f"{name.removesuffix('_s')} {duration(value)}" for name, value in sorted(measured.spread.items()))
        or "-"
    )


def gap_section(report: CampaignReport, letters: int) -> Section:
    """Return where the time of the best version above its roofs goes, one table a shape."""
    if not report.gaps:
        return Section(
            "Where the time goes", (Cell("Nobody accounted for the time of the best version.", tone="quiet"),)
        )
    return Section(
        f"Where the time of {report.best} goes", tuple(block for gap in report.gaps for block in _gap(gap, letters))
    )


def _gap(gap: Gap, letters: int) -> list[PageBlock]:
    blocks: list[PageBlock] = []
    rows: list[tuple[CellText, ...]] = []
    for part in gap.parts:
        if part.seconds or part is gap.parts[-1]:
            proof = clipped("; ".join(map(str, part.evidence)), letters) or "-"
            shares = (percent(part.share_pct / 100), percent(part.time_pct / 100))
            rows.append((Cell(part.words, part.method), *shares, duration(part.seconds), part.certainty, proof))
    head = ("cause", "of the gap", "of the time", "time", "certainty", "evidence")
    roof = (
        f"{gap.of_roof_pct:.4g} % of the roof of {gap.roof} ({gap.basis})"
        if gap.of_roof_pct is not None
        else "no roof is known"
    )
    blocks.append(Cell(f"{gap.name}: {duration(gap.time_s)}, {roof}", "", tuple(gap.citations)))
    if rows:
        blocks.append(TableBlock(f"Between roof and time of {gap.name}", head, tuple(rows), frozenset({1, 2, 3})))
    told = [clipped(f"Note: {one}", letters) for one in gap.notes] + [
        clipped(f"Record next: {one}", letters) for one in gap.record
    ]
    return [*blocks, Bullets(tuple(told))] if told else blocks


def ledger_section(report: CampaignReport, level: CutLevel) -> Section:
    """Return what became of each opportunity of the best version."""
    rows: list[tuple[CellText, ...]] = []
    letters = level.letters
    for one in report.ledger[: level.rows]:
        worth = "-" if one.opportunity.share_pct is None else percent(one.opportunity.share_pct / 100)
        tone = "warn" if one.is_open else ""
        events = ", ".join(map(str, one.opportunity.evidence))
        said = Cell(one.state, f"events {events}" if events else "", tone=tone)  # type: ignore[arg-type]
        rows.append((clipped(one.opportunity.text, letters), worth, said, clipped(one.reason, letters) or "-"))
    if not rows:
        return Section("What is left to try", (Cell("No opportunity of the best version was listed.", tone="quiet"),))
    head = ("opportunity", "at most of the time", "state", "why")
    table = TableBlock(f"Opportunities of {report.best}", head, tuple(rows), frozenset({1}))
    more = len(report.ledger) - len(rows)
    return Section("What is left to try", (table, *((Cell(f"{more} more are left out."),) if more else ())))
