"""Renders logs/performance_trend.md: one row an attempt, rates against the baseline, then latency by shape."""

from __future__ import annotations

from kopt_kb.quantity.statistics import geometric_mean, speedup_pct
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.rates import finite, rates_of
from kopt_kb.workspace.views.memory import Memories
from kopt_kb.workspace.views.words import BlobReader, figure, percent, plain

__all__ = ["COLUMNS", "STATUS", "performance_trend"]

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


def _passes(state: WorkspaceState, mean: str, peak: str, *, whole_step: bool) -> tuple[str, str, str, str]:
    """Return the cells of forward and backward: a problem that counts a whole step knows neither by itself."""
    if whole_step:
        return "-", "-", "-", "-"
    return ("-", "-", mean, peak) if dict(state.problem.options).get("backward", False) else (mean, peak, "-", "-")


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
    forward = "-" if whole_step else shown
    return f"step {shown}, fwd {forward}, bwd -" if change is not None else "-"


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
        *_passes(state, mean, peak, whole_step=whole_step),
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
        "",
    ]
    lines += ["## Median latency by shape", "", *_latencies(state)]
    return {"logs/performance_trend.md": plain("\n".join(lines).rstrip() + "\n")}
