"""Reports of optimizations as the coordination playbook writes them, one or a whole series; from the journal."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from kopt_kb.base.wire import read
from kopt_kb.packs.coordination.autopilot import left_out
from kopt_kb.packs.coordination.routing.plan import Plan, planned, recommendation_of
from kopt_kb.quantity.statistics import geometric_mean, speedup_pct
from kopt_kb.tuning.proposals import view_of
from kopt_kb.tuning.report import stated_targets
from kopt_kb.tuning.stops import evaluation, not_evaluable
from kopt_kb.tuning.versions import gain_pct, incumbent_name
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.levels import round_words
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import StopConditions

__all__ = ["optimization_report", "summary_report"]

_MS = 1000.0


def _plan(state: WorkspaceState) -> Plan | None:
    return None if state.plan is None else read(Plan, state.plan.plan, where="plan")


def _seconds(times: Mapping[str, list[float]]) -> float | None:
    """Return the geometric mean over shapes of the medians, in seconds."""
    return geometric_mean(statistics.median(one) for one in times.values()) if times else None


def _sol_pct(state: WorkspaceState, times: Mapping[str, list[float]]) -> float | None:
    """Return the share of the documented roofs that times reach, over shapes, in percent."""
    if state.simulated:
        return None
    conditions = {one.shape: one for one in StopConditions.of(state).conditions}
    shares = [conditions[shape].share(statistics.median(one)) for shape, one in times.items() if shape in conditions]
    mean = geometric_mean(shares) if shares else None
    return None if mean is None else 100 * mean


def _cell(value: float | None, unit: str, scale: float = 1.0) -> str:
    return "-" if value is None else f"{value * scale:.4g}{unit}"


def _rows(old: float | None, new: float | None) -> list[tuple[str, ...]]:
    """Return throughput and latency, before and after."""
    gain = speedup_pct(old, new) if old and new else None
    slower = 100 * (new / old - 1) if old and new else None
    change = "-" if gain is None else f"{gain:+.2f} %"
    other = "-" if slower is None else f"{slower:+.2f} %"
    rates = [None if one is None else 1 / one for one in (old, new)]
    return [
        ("Throughput", *(_cell(one, " calls/s") for one in rates), change),
        ("Latency", *(_cell(one, " ms", _MS) for one in (old, new)), other),
    ]


def _claim(round_: Round) -> str:
    return round_.hypothesis.claim if round_.hypothesis is not None else "the kernel as it was given"


def optimization_report(state: WorkspaceState, number: int | None = None) -> str:
    """Return the report of one round: the named one, else the last that was decided.

    Raises:
        LookupError: No such round was decided.
    """
    decided = [one for one in state.rounds if one.decided is not None and not one.is_baseline]
    found = [one for one in decided if number in {None, one.number}]
    if not found:
        raise LookupError(f"v{number} was not decided" if number is not None else "no round was decided")
    one = found[-1]
    step, plan = recommendation_of(_claim(one)), _plan(state)
    place = planned(plan, step) if plan is not None else None
    gates = one.gates
    specialist = (
        place.specialist if place is not None and place.specialist else one.hypothesis and one.hypothesis.proposer
    )
    old, new = (_seconds(one.times(name)) for name in (incumbent_name(state, one), one.name))
    gain = gain_pct(one)
    lines = [f"## Optimization Applied: {_claim(one)}", "", "### Prerequisites Checked"]
    lines += [f"- [{_mark(gates, 'lint', 'build')}] Code compatibility verified"]
    lines += [f"- [{_mark(gates, 'limits')}] Hardware requirements met"]
    lines += ["", "### Implementation", f"- Specialist: {specialist or 'none'}", f"- Changes: {_claim(one)}", ""]
    lines += ["### Validation", *table(["Metric", "Before", "After", "Change"], _rows(old, new))]
    return "\n".join([*lines, "### Result", _result(state, one, gain), ""])


def _mark(gates: Mapping[str, object], *names: str) -> str:
    """Return x where all gates passed, a blank for one that was not judged, and ! for one that failed."""
    results = [getattr(gates.get(name), "result", "unavailable") for name in names]
    return "!" if "fail" in results else " " if "unavailable" in results else "x"


def _result(state: WorkspaceState, round_: Round, gain: float | None) -> str:
    rule = round_.decided.rule if round_.decided is not None else ""
    level = round_words(state, round_)
    shown = "not timed" if gain is None else f"{gain:+.2f} %, {level}"
    if round_.accepted and round_.refuted_by is None:
        return f"SUCCESS: Achieved {gain or 0.0:+.2f} % improvement ({rule}, {level})"
    why = next((gate.reason for gate in round_.gates.values() if gate.result == "fail" and gate.reason), rule)
    decision = round_.decided.decision if round_.decided is not None else "open"
    return f"{'UNVERIFIED' if decision == 'unverified' else 'FAILED: rolled back'} ({shown}): {why}"


def summary_report(state: WorkspaceState) -> str:
    """Return the summary of a campaign: goal, start, result, what was applied in order, totals and what is left."""
    first, best = state.baseline, state.best
    old = _seconds(first.times(first.name)) if first is not None else None
    new = _seconds(best.times(best.name)) if best is not None else None
    judged = evaluation(state)
    met = "not evaluable" if judged is None else "goal achieved" if judged.aggregate_met else "goal not achieved"
    why = f" ({not_evaluable(state)})" if judged is None and best is not None else ""
    goal = "; ".join(f"{one.shape}: {one.condition}" for one in stated_targets(state))
    lines = [
        "## Optimization Summary",
        "",
        f"**Goal**: {goal or 'none'}",
        f"**Starting Point**: {_cell(old, ' ms', _MS)}",
    ]
    lines += [f"**Result**: {_cell(new, ' ms', _MS)}, {met}{why}", "", "### Optimizations Applied (in order)", ""]
    rounds = [one for one in state.rounds if not one.is_baseline and one.decided is not None]
    for at, one in enumerate(rounds, 1):
        lines += [f"{at}. **{_claim(one)}**", f"   - Impact: {_impact(state, one)}", f"   - Status: {_status(one)}", ""]
    sols = [_sol_pct(state, one.times(one.name)) if one is not None else None for one in (first, best)]
    points = "-" if None in sols else f"{(sols[1] or 0) - (sols[0] or 0):+.2f} points"
    rows = [*_rows(old, new), ("SOL%", *(_cell(one, " %") for one in sols), points)]
    lines += [] if rounds else ["none", ""]
    lines += ["### Cumulative Results", *table(["Metric", "Baseline", "Final", "Total Change"], rows)]
    lines += [] if best is None else [f"Rests on {round_words(state, best)}.", ""]
    return "\n".join([*lines, "### Remaining Opportunities", *_remaining(state), ""])


def _impact(state: WorkspaceState, round_: Round) -> str:
    old, new = (_seconds(round_.times(name)) for name in (incumbent_name(state, round_), round_.name))
    if old is None or new is None:
        return "not timed"
    slower = 100 * (new / old - 1)
    level = round_words(state, round_)
    words = f"{_cell(old, ' ms', _MS)} --> {_cell(new, ' ms', _MS)} ({slower:+.2f} %, {level})"
    return f"Regression detected: {words}" if slower > 0 else words


def _status(round_: Round) -> str:
    if round_.accepted and round_.refuted_by is None:
        return "Applied"
    return "Unverified" if round_.decided is not None and round_.decided.decision == "unverified" else "Rolled back"


def _remaining(state: WorkspaceState) -> list[str]:
    """Return what was not tried and why: steps of the plan, and open entries of the ledger."""
    found = []
    plan = _plan(state)
    if plan is not None:
        out = left_out(plan, view_of(state, b"").tried)
        for step in plan.steps:
            why = out.get(step.id, f"nobody proposed it; {step.command}" if step.command else "nobody proposed it")
            if not why.startswith("tried"):
                found.append(f"- {step.id} [{step.recommendation.impact}] {step.recommendation.text}: {why}")
    ledger = state.ledger_of(state.best) if state.best is not None else ()
    found += [f"- {one}" for one in ledger if one.is_open]
    return found or ["- none known"]
