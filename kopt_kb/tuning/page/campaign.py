"""A campaign as one page: targets and their sources, roofline with dots, rounds, gaps, machines, how to do it again."""

from __future__ import annotations

from kopt_kb.analysis.roofline.basis import basis_name
from kopt_kb.base.markup.blocks import (
    Cell,
    CellText,
    CodeBlock,
    FactsBlock,
    Figure,
    PageBlock,
    ReportPage,
    Section,
    TableBlock,
)
from kopt_kb.base.markup.text import clipped
from kopt_kb.quantity.readable import duration, percent, reached, rounded, si
from kopt_kb.quantity.recorded import RecordedQuantity
from kopt_kb.report.drawing_files import figure, picture_table
from kopt_kb.report.picture import Dot, Picture, recorded_picture
from kopt_kb.tuning.page.fitted import LEVELS, CutLevel, fitted
from kopt_kb.tuning.page.provenance import cited, machine, of_record, of_records
from kopt_kb.tuning.page.reproduce import commands
from kopt_kb.tuning.page.rounds import gap_section, ledger_section, measurement_section, round_section
from kopt_kb.tuning.report import CampaignReport, launcher_of
from kopt_kb.tuning.shown import headline
from kopt_kb.workspace.journal.setup_events import AGGREGATE, SpecRow, Target
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import JudgedCondition, StopConditions
from kopt_kb.workspace.views.words import citation

__all__ = ["campaign_html", "campaign_page", "campaign_picture"]


def campaign_html(report: CampaignReport, state: WorkspaceState, made_by: str) -> bytes:
    """Return the page as HTML of at most `MOST_BYTES`.

    Raises:
        BadInput: Even with the fewest rounds it is larger.
    """
    drawing = _roofline(report, state)
    return fitted(lambda level: campaign_page(report, state, made_by, level, drawing), state.created.name)


def campaign_page(
    report: CampaignReport,
    state: WorkspaceState,
    made_by: str,
    level: CutLevel = LEVELS[0],
    drawing: tuple[Figure, Picture] | None = None,
) -> ReportPage:
    """Return the page of a campaign.

    Args:
        report: What it came to: every decision, time and ratio is this report's.
        state: What the report was made of: sources, records, machines.
        made_by: Program and version.
        level: How much of it.
        drawing: The roofline, where it is drawn already.
    """
    letters = level.letters
    sections = [_targets(report, state)]
    drawing = drawing or _roofline(report, state)
    if drawing is not None:
        sections.append(Section("Roofline", (drawing[0], picture_table(drawing[1], letters=letters))))
    sections += [
        round_section(report, state, level),
        _versions(report, state),
        gap_section(report, letters),
        ledger_section(report, level),
        measurement_section(state, level),
        _machines(state, letters),
        _values(state, letters),
        Section("How to do it again", (CodeBlock(clipped(commands(state), 20 * letters)),)),
    ]
    name = clipped(state.created.name, 200)
    return ReportPage(
        f"Campaign {name} on {state.created.platform}", tuple(_lead(report, state, letters)), sections, made_by
    )


def _roofline(report: CampaignReport, state: WorkspaceState) -> tuple[Figure, Picture] | None:
    picture = campaign_picture(report, state)
    caption = "Roofline of the registered values, on logarithmic axes; a dot is a measured version at its own rate."
    return None if picture is None else (figure(picture, caption), picture)


def _lead(report: CampaignReport, state: WorkspaceState, letters: int) -> list[PageBlock]:
    blocks: list[PageBlock] = []
    if report.simulated:
        blocks.append(Cell("SIMULATED: the times come from a made-up model; nothing here was measured.", tone="bad"))
    if report.refused:
        blocks.append(Cell(clipped(f"refused: {report.refused}", letters), tone="bad"))
    faults = [f"not believed, {one.below_the_roof}" for one in report.rounds if one.below_the_roof]
    blocks += [Cell(clipped(text, letters), tone="bad") for text in faults]
    blocks.append(_headline(report))
    levels = ", ".join(dict.fromkeys(one.trust for one in report.rounds if one.medians_s)) or "no time yet"
    sources = "; ".join(dict.fromkeys(one.source for one in report.rounds if one.medians_s)) or "no time yet"
    accepted = sum(one.accepted for one in report.rounds)
    stood = report.state if report.stop is None else f"{report.state}, stopped: {report.stop.reason}"
    rows: list[tuple[str, CellText]] = [
        ("work", f"{state.problem.op}, {state.problem.dtype}, {', '.join(state.problem.shape_names)}"),
        ("product", f"{state.created.platform} ({state.task.arch or 'architecture unknown'})"),
        ("stands", stood + (f", next: {report.next}" if report.stop is None else "")),
        (
            "route, policy",
            f"{report.route}, {report.policy}, judged by {state.campaign.executor if state.campaign else 'nobody'}",
        ),
        ("trust of the times", Cell(level_words(state, ()) if state.task.project is not None else levels, _TRUST)),
        ("launcher", launcher_of(report) or "none ran"),
        ("source of the code", Cell(sources, _SOURCE)),
        ("rounds", f"{len(report.rounds)} with the baseline, {accepted} accepted" if report.rounds else "none yet"),
        ("journal", f"{state.seq} events, head {state.head}"),
    ]
    return [*blocks, FactsBlock(tuple((name, _cut(text, letters)) for name, text in rows))]


_TRUST = """replayed: launch records replayed by a judge that never imported the candidate
isolated: timed in an isolated process
reported: as the measured side itself reports it
unstated: the journal is from before levels were recorded"""


_SOURCE = """bound: made again from the text of the source, by a process that runs none of it, and the same
unbound: not known to come from the source; the reason follows"""


def _cut(text: CellText, letters: int) -> CellText:
    return text if isinstance(text, Cell) else clipped(text, letters)


def _headline(report: CampaignReport) -> Cell:
    said, met = headline(report)
    over = "gain: geometric mean over the shapes of baseline over best, both as timed in the rounds that accepted them"
    return Cell(said, f"{over}\nachieved over target: geometric mean over the shapes", tone="good" if met else "warn")


def _targets(report: CampaignReport, state: WorkspaceState) -> Section:
    targets = {one.shape: one for one in state.targets.targets if one.quantity != AGGREGATE} if state.targets else {}
    judged = {one.condition.shape: one for one in report.conditions.judged} if report.conditions is not None else {}
    rows = []
    for condition in StopConditions.of(state).conditions:
        one = judged.get(condition.shape) or JudgedCondition(condition, None, "", None, None)
        rows.append(_target(one, targets.get(condition.shape), state))
    head = ("shape", "target", "median", "achieved", "achieved / target", "of the documented roof", "met", "trust")
    blocks: list[PageBlock] = []
    if rows:
        blocks.append(
            TableBlock("Targets in force and what the best version reaches", head, tuple(rows), frozenset({2, 3, 4, 5}))
        )
    else:
        blocks.append(Cell("No target is in force.", tone="warn"))
    if state.targets is not None:
        by, reason = clipped(state.targets.by, 80), clipped(state.targets.reason, 400)
        blocks.append(Cell(f"Set by event {state.targets_seq} ({by}): {reason}."))
    unknown = [f"{one.key}: UNKNOWN, {one.reason}" for one in state.unknown.values()]
    if unknown and not rows:
        blocks.append(TableBlock("Needed values that nobody publishes", ("value",), tuple((one,) for one in unknown)))
    return Section("Targets", tuple(blocks))


def _target(one: JudgedCondition, target: Target | None, state: WorkspaceState) -> tuple[CellText, ...]:
    condition = one.condition
    basis = state.specs.get(target.basis) if target is not None else None
    limit = f"a median of {duration(float(condition.latency_s))} or less"
    made = f"{target.factor} x {basis_name(target.basis)}; {limit}" if target is not None else limit
    wanted = Cell(f"{condition.quantity} {condition.target}", made, (cited(basis),) if basis is not None else ())
    record = state.measured.get(one.record)
    measured = Cell(duration(one.median_s), of_record(state, record) if record is not None else "not measured")
    rate = "-" if one.achieved_per_s is None else si(one.achieved_per_s, "FLOP/s" if " " in condition.roof else "B/s")
    achieved = Cell(rate, f"{condition.amount} under the {condition.roof} roof, over the median")
    met = (
        Cell("yes", tone="good") if one.met else Cell("no" if one.median_s is not None else "not measured", tone="bad")
    )
    ratio = Cell(reached(one.ratio), f"achieved over {condition.target}")
    roofline = next((each for each in state.rooflines if each.shape == condition.shape), None)
    ceiling = roofline.ceiling(condition.roof) if roofline is not None else None
    documented = ceiling.documented if ceiling is not None else None
    sources = documented.citations if isinstance(documented, RecordedQuantity) else ()
    share = Cell(percent(one.ceiling_share), f"achieved over the documented {condition.roof} roof", sources)
    return (condition.shape, wanted, measured, achieved, ratio, share, met, one.level or "unstated")


def campaign_picture(report: CampaignReport, state: WorkspaceState) -> Picture | None:
    """Return the roofline with the baseline, the last accepted versions and the best; None without a known roof."""
    dots = []
    for one in [each for each in state.rounds if each.accepted]:
        is_end = one.name in {report.baseline, report.best}
        for shape, record in one.own_records.items():
            if is_end and not report.simulated:
                dots.append(Dot(one.name, shape, record.median_s, of_record(state, record)))
    return recorded_picture(f"{clipped(state.problem.op, 60)} on {state.created.platform}", state.rooflines, dots)


def _versions(report: CampaignReport, state: WorkspaceState) -> Section:
    """Return baseline and best side by side, as they were timed in their own rounds."""
    by_name = {one.name: one for one in state.rounds}
    rows: list[tuple[CellText, ...]] = []
    for shape in report.best_s or report.baseline_s:
        before, after = report.baseline_s.get(shape), report.best_s.get(shape)
        sides = [(report.baseline, before), (report.best, after)]
        cells = [
            Cell(duration(s), of_records(state, by_name[name], shape) if name in by_name else "") for name, s in sides
        ]
        faster = "-" if not before or not after else f"{rounded(before / after)}×"
        rows.append((shape, *cells, faster))
    if not rows:
        return Section("Baseline and best", (Cell("No version has a time yet.", tone="quiet"),))
    head = ("shape", f"baseline {report.baseline or 'v0'}", f"best {report.best or '-'}", "times as fast")
    return Section(
        "Baseline and best",
        (TableBlock("Medians of the rounds that accepted them", head, tuple(rows), frozenset({1, 2, 3})),),
    )


def _machines(state: WorkspaceState, letters: int) -> Section:
    rows: list[tuple[CellText, ...]] = []
    for seq, one in state.environments.items():
        versions = ", ".join(f"{name} {version}" for name, version in sorted(one.versions.items()))
        clocks = ", ".join(f"{name} {value}" for name, value in sorted(one.clocks.items())) or "not read"
        product = one.product or ("not looked up" if one.product is None else "no page of the wiki")
        row = (machine(state, seq), product, versions, clocks, one.harness[:12])
        rows.append(tuple(clipped(str(text), letters) for text in row))
    if not rows:
        return Section("Machines", (Cell("Nothing was measured on a machine.", tone="quiet"),))
    head = ("machine", "product", "programs", "clocks", "harness")
    return Section("Machines", (TableBlock("What measured", head, tuple(rows)),))


def _values(state: WorkspaceState, letters: int) -> Section:
    """Return every registered hardware value with its line of the wiki and its document."""
    rows: list[tuple[CellText, ...]] = [_value(one, letters) for one in state.specs.values()]
    for one in state.unknown.values():
        where = citation(one.citation) if one.citation is not None else "no row"
        rows.append((one.key, Cell("UNKNOWN", one.reason, tone="warn"), "-", where, clipped(one.reason, letters)))
    if not rows:
        return Section("Hardware values", (Cell("None is registered.", tone="quiet"),))
    head = ("key", "value", "grade", "line of the wiki", "document")
    return Section(
        "Hardware values", (TableBlock("Registered values; kb audit reads each line again", head, tuple(rows)),)
    )


def _value(row: SpecRow, letters: int) -> tuple[CellText, ...]:
    hash_ = f"row sha256 {row.citation.row_sha256}"
    return (
        row.key,
        f"{row.value} {row.unit}".strip(),
        row.grade,
        Cell(citation(row.citation), hash_),
        clipped(row.source, letters) or "derived",
    )
