"""Renders logs/: the campaign in one page, and its trend: a row an attempt, then latency by shape."""

from __future__ import annotations

from collections import Counter

from kopt_kb.doors.view import sections
from kopt_kb.packs.memory_form.entries import free_text, of_kind
from kopt_kb.packs.memory_form.lessons import directions
from kopt_kb.packs.memory_form.memory import Memories, judged_rates
from kopt_kb.packs.memory_form.memory_model import Iteration, MemoryDirection
from kopt_kb.packs.memory_form.reports import FAILED, SIMULATED, cause_of, code, gap_of, results_of
from kopt_kb.quantity.statistics import geometric_mean, speedup_pct
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.rates import finite, rates_of
from kopt_kb.workspace.views.words import bullets, figure, finish, percent

__all__ = ["COLUMNS", "STATUS", "optimize_log", "performance_trend"]

COLUMNS = (
    "Attempt", "Status", "Description", "Fwd Avg TFLOPS", "Fwd Peak TFLOPS", "Bwd Avg TFLOPS", "Bwd Peak TFLOPS",
    "Combined Step TFLOPS", "vs Baseline", "Key Finding",
)  # fmt: skip
"""Columns of the trend table; average is the geomean over shapes, peak the largest."""

STATUS = {
    "open": "OPEN", "baseline": "BASELINE", "accept": "ACCEPTED", "accept_with_note": "ACCEPTED",
    "rollback": "ROLLBACK", "unverified": "UNVERIFIED", "refuted": "REFUTED",
}  # fmt: skip
"""Status of an attempt → the word printed."""


def _passes(state: WorkspaceState, attempt: Round, mean: str, peak: str, *, whole_step: bool) -> tuple[str, ...]:
    """Return the cells of forward and backward; of a whole step they are known where its records say the parts."""
    if whole_step:
        cells = []
        for rates in _parts(state, attempt):
            average = geometric_mean(rates)
            cells += [figure(average and average * 1e-12), figure(max(rates, default=None) and max(rates) * 1e-12)]
        return tuple(cells)
    return ("-", "-", mean, peak) if dict(state.problem.options).get("backward", False) else (mean, peak, "-", "-")


def _parts(state: WorkspaceState, attempt: Round) -> tuple[list[float], list[float]]:
    """Return the rates of forward and of backward over shapes, in operations a second."""
    found: tuple[list[float], list[float]] = ([], [])
    known = {shape: one for shape, one in attempt.own_records.items() if one.spread.get("forward_s")}
    amounts = state.problem.passes() if known else {}
    for shape, record in known.items():
        seconds = record.spread["forward_s"]
        rest = record.median_s - seconds
        if rest > 0:
            found[0].append(amounts[shape]["forward"]["op"] / seconds)
            found[1].append(amounts[shape]["backward"]["op"] / rest)
    return found


def _tflops(state: WorkspaceState, attempt: Round) -> tuple[float | None, float | None]:
    """Return geomean and peak over shapes, in TFLOPS."""
    rates = [one.flops_per_s for one in rates_of(state, attempt.own_records)]
    known = [rate for rate in rates if rate is not None]
    mean = geometric_mean(rates)
    return (None if mean is None else mean * 1e-12), (max(known) * 1e-12 if known else None)


def _against(state: WorkspaceState, attempt: Round, *, whole_step: bool) -> str:
    """Return the throughput change against the baseline over the shapes both have."""
    baseline = state.first
    if baseline is None or attempt.number <= baseline.number:
        return "-"
    own, base = attempt.own_records, baseline.own_records
    shapes = sorted(own.keys() & base.keys())
    change = speedup_pct(
        geometric_mean(base[shape].median_s for shape in shapes),
        geometric_mean(own[shape].median_s for shape in shapes),
    )
    shown = percent(change)
    forward, backward = (shown, "-")
    if whole_step:
        before, after = _parts(state, baseline), _parts(state, attempt)
        forward, backward = (_faster(*map(geometric_mean, pair)) for pair in zip(before, after, strict=True))
    return f"step {shown}, fwd {forward}, bwd {backward}" if change is not None else "-"


def _faster(old: float | None, new: float | None) -> str:
    """Return the change of a rate; a dash where one of the two is not known."""
    return percent(speedup_pct(1 / old, 1 / new)) if old and new else "-"


def _finding(attempt: Round) -> str:
    """Return why the attempt ended as it did: the gate that stopped it, the rule, else the profiler's word."""
    if attempt.decided is None:
        return attempt.profiles[-1].code if attempt.profiles else "-"
    stops = {"fail", "unavailable"} if attempt.status == "unverified" else {"fail"}
    gates = attempt.chosen.gates if attempt.chosen is not None else []
    found = [f"{one.gate} {one.result}" for one in gates if one.result in stops]
    later = [] if attempt.refuted_by is None else [f"refuted by v{attempt.refuted_by}"]
    return "; ".join([f"{attempt.decided.policy}: {attempt.decided.rule}", *found[-1:], *later])


def _row(state: WorkspaceState, attempt: Round) -> tuple[str, ...]:
    name = f"v{attempt.number}"
    if attempt.number in state.masked:
        return (name, "MASKED", *["-"] * 8)
    mean, peak = (figure(value) for value in _tflops(state, attempt))
    claim = attempt.hypothesis.claim if attempt.hypothesis else ("nothing changed" if not attempt.number else "-")
    whole_step = dict(state.problem.options).get("step") == "forward_backward"
    return (
        name,
        STATUS[attempt.status],
        claim,
        *_passes(state, attempt, mean, peak, whole_step=whole_step),
        mean,
        _against(state, attempt, whole_step=whole_step),
        _finding(attempt),
    )


def _latencies(state: WorkspaceState) -> list[str]:
    shown = [one for one in state.attempts.values() if one.number not in state.masked and one.own_records]
    shapes = list(dict.fromkeys(shape for one in shown for shape in one.own_records))
    if not shapes:
        return ["No shape is measured yet.", ""]
    rows = []
    for one in shown:
        times = [one.own_records.get(shape) for shape in shapes]
        micros = [figure(finite(each.median_s * 1e6)) if each is not None else "-" for each in times]
        rows.append([f"v{one.number}", *micros, ", ".join(dict.fromkeys(each.trust for each in times if each))])
    head = ["Attempt", *(f"{shape} (us)" for shape in shapes), "Trust"]
    if {each.trust for one in shown for each in one.own_records.values()} == {"unstated"}:
        return table(head[:-1], [row[:-1] for row in rows])
    return table(head, rows)


def performance_trend(state: WorkspaceState, _: BlobReader, __: Memories) -> dict[str, str]:
    """Return logs/performance_trend.md."""
    lines = ["# Performance trend", ""]
    if any(state.is_simulated(one) for one in state.attempts.values()):
        lines += ["SIMULATED: every time comes from a made-up model.", ""]
    lines += table(COLUMNS, (_row(state, one) for one in state.attempts.values()))
    baseline = state.first
    against = f"throughput against v{baseline.number}" if baseline is not None else "empty: there is none yet"
    lines += [
        "Average is the geometric mean over shapes, peak the largest; both are useful operations over the median",
        f"latency. `vs Baseline` is {against}; positive is faster.",
        *([f"Gains: {level_words(state, ())}."] if state.task.project is not None else []),
        "",
    ]
    lines += ["## Median latency by shape", "", *_latencies(state)]
    return {"logs/performance_trend.md": finish(lines)}


def optimize_log(state: WorkspaceState, blob: BlobReader, memories: Memories) -> dict[str, str]:
    """Return logs/optimize.md: the campaign in one page, masked versions left out."""
    shown = list(memories.values())
    seen = [one for one in shown if not one.masked]
    lines = ["# Optimization log", "", "## Basic Information", ""]
    ended = f"stopped: {state.stopped.reason}" if state.stopped is not None else "running"
    lines += bullets(
        [
            f"operator: {state.problem.op}", f"language: {state.task.framework or 'unknown'}",
            f"GPU: {state.created.platform}", f"campaign: {state.created.name}", f"start time: {state.times[1]}",
            f"status: {ended}",
        ]
    )  # fmt: skip
    lines += [SIMULATED, ""] if any(one.simulated for one in shown) else []
    lines += ["## Optimization History", ""]
    lines += table(
        ["Attempt", "Time", "Category", "Hypothesis", "Decision", "Geomean (us)", "Detailed data"], _history(seen)
    )
    hidden = [one.version for one in shown if one.masked]
    if hidden:
        lines += [f"Masked and left out: {', '.join(hidden)}.", ""]
    lines += ["## Current Best", "", *_current_best(state)]
    lines += _ledger(state)
    lines += ["## Directions to Try", "", *bullets(_directions(state, blob))]
    failed = [one for one in seen if one.status in FAILED and one.optimization is not None]
    lines += ["## Verified Ineffective Directions", ""]
    lines += table(["Direction", "Version", "Failure Reason"], (_ineffective(one, state) for one in failed))
    counts = Counter(STATUS[memory.status] for memory in seen)
    words = [word for word in dict.fromkeys(STATUS.values()) if counts[word] or word != STATUS["refuted"]]
    lines += sections("log", state, blob)
    if state.named is not None:
        from kopt_kb.packs.memory_form.manifest import termination

        conditions = termination(state)
        lines += ["## Termination", "", *bullets(conditions)] if conditions else []
    lines += ["## Totals", "", *bullets(f"{word}: {counts[word]}" for word in words)]
    return {"logs/optimize.md": finish(lines)}


def _current_best(state: WorkspaceState) -> list[str]:
    if state.first is None:
        return ["No kernel is accepted yet.", ""]
    best = state.incumbent
    return [f"v{best.number}", "", *results_of(state, best), *gap_of(state, best)]


def _directions(state: WorkspaceState, blob: BlobReader) -> list[str]:
    """Return where the best version leaves time, and what people and agents want to try; masked versions left out."""
    best = state.incumbent
    found = [direction.direction for direction in directions(state, best, judged_rates(state, best))]
    shown = [one for one in state.attempts.values() if one.number not in state.masked]
    noted = {said.direction for attempt in shown for said in of_kind(MemoryDirection, free_text(attempt, blob))}
    return [*found, *sorted(noted)]


def _history(seen: list[Iteration]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for one in seen:
        stated = one.optimization
        category, claim = (stated.action_category, stated.action_description) if stated else ("", "")
        latency = figure(one.performance.latency_us)
        rows.append(
            (one.version, one.timestamp, category, claim, STATUS[one.status], latency, f"rounds/{one.round}/summary.md")
        )
    return rows


def _ineffective(iteration: Iteration, state: WorkspaceState) -> tuple[str, str, str]:
    claim = iteration.optimization.action_description if iteration.optimization else "-"
    return claim, iteration.version, code(cause_of(iteration, state))


def _ledger(state: WorkspaceState) -> list[str]:
    """Return what became of each opportunity of the best version; nothing where none is listed."""
    entries = state.ledger_of(state.best) if state.best is not None else ()
    return ["## Ledger", "", *bullets(code(str(entry)) for entry in entries)] if entries else []
