"""What a campaign's events teach: failures as pitfalls, hypotheses as the search log, missed targets as directions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from kopt_kb.packs.memory_form.memory_model import MemoryDirection, Pitfall, PitfallKind, SearchEntry
from kopt_kb.workspace.journal.round_events import GateJudged, RunFinished
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import StopConditions
from kopt_kb.workspace.targets.rates import ShapeRate
from kopt_kb.workspace.views.words import unknown_in

__all__ = ["directions", "last_words", "pitfalls", "searched"]

_KINDS: Mapping[str, PitfallKind] = {
    "build": "compilation",
    "limits": "compilation",
    "lint": "compilation",
    "correctness": "accuracy",
}
"""Gate → kind of pitfall; all other gates run the kernel."""

_ENDS: Mapping[str, PitfallKind] = {"hang": "timeout", "crash": "runtime", "oom": "runtime", "limit": "runtime"}
"""How a run ended → kind of pitfall; a lost run says nothing about the kernel."""

_TRIED = {
    "accept": "kept", "accept_with_note": "kept, with a note", "rollback": "not to be repeated as it is",
    "unverified": "to be judged once the gate that was missing is there", "refuted": "not to be repeated as it is",
    "open": "being tried",
}  # fmt: skip


def last_words(gates: Iterable[GateJudged]) -> list[GateJudged]:
    """Return each gate's last word, in the order of the gates."""
    return list({one.gate: one for one in gates}.values())


def pitfalls(state: WorkspaceState, attempt: Round) -> list[Pitfall]:
    """Return what went wrong in an attempt: runs that ended badly, gates that failed, spills, no gain.

    The first attempt also names every needed value that nobody publishes.
    """
    found = [*_unknown(state)] if not attempt.number else []
    for candidate in attempt.candidates.values():
        for gate in last_words(candidate.gates):
            found += _gate(state, candidate.name, gate)
    found += _rolled_back(state, attempt)
    return list({(one.error_message, one.lesson): one for one in found}.values())


def _unknown(state: WorkspaceState) -> Iterator[Pitfall]:
    for row in state.unknown.values():
        yield Pitfall("unknown_spec", f"{row.key}: {unknown_in(state, row)}", root_cause=row.reason)


def _gate(state: WorkspaceState, name: str, gate: GateJudged) -> Iterator[Pitfall]:
    ended = state.ended(gate.runs)
    bad = next((one for one in ended if one.outcome in _ENDS), None)
    if gate.result == "fail":
        kind = _ENDS[bad.outcome] if bad is not None else _KINDS.get(gate.gate, "runtime")
        yield Pitfall(kind, f"{name} failed the gate {gate.gate}", gate.reason, _ended(bad))
    elif gate.result == "unavailable":
        yield Pitfall("runtime", f"{name}: the gate {gate.gate} could not judge", gate.reason, _ended(bad))
    elif gate.gate == "limits" and gate.reason:
        yield Pitfall("performance", f"{name} passed the gate limits, which said: {gate.reason}", gate.reason)


def _ended(run: RunFinished | None) -> str:
    if run is None:
        return ""
    how = f"signal {run.signal}" if run.signal is not None else f"exit {run.exit}"
    return f"run {run.run} ended as {run.outcome}, {how}"


def _rolled_back(state: WorkspaceState, attempt: Round) -> Iterator[Pitfall]:
    decided = attempt.decided
    if decided is None or attempt.is_baseline or (attempt.accepted and attempt.refuted_by is None):
        return
    claim = attempt.hypothesis.claim if attempt.hypothesis is not None else f"v{attempt.number}"
    if attempt.refuted_by is not None:
        lesson = f"{claim}: v{attempt.refuted_by} did not confirm it"
        yield Pitfall("performance", lesson, fix_applied=f"refuted by v{attempt.refuted_by}")
    elif attempt.own_records or decided.decision == "rollback":
        before = next((one for one in state.attempts.values() if _is_incumbent(one, attempt)), None)
        fix = f"kernel.py is v{before.number} again" if before is not None else ""
        yield Pitfall("performance", f"{claim}: {decided.decision}, {decided.rule}", fix_applied=fix)


def _is_incumbent(round_: Round, attempt: Round) -> bool:
    return round_.number < attempt.number and round_.snapshot is not None and round_.snapshot.blob == attempt.incumbent


def searched(attempt: Round, throughput_change_pct: float | None) -> list[SearchEntry]:
    """Return what an attempt tried and what came of it, as one entry of the search log."""
    stated = attempt.hypothesis
    if stated is None:
        return []
    count = len(attempt.candidates)
    tried = f"; {count} candidates" if count > 1 else ""
    gain = f"; throughput {throughput_change_pct:+.3f}% against its incumbent" if throughput_change_pct else ""
    rule = f"; {attempt.decided.rule}" if attempt.decided is not None else ""
    finding = f"{stated.claim}: {attempt.status}{rule}{gain}{tried}"
    return [SearchEntry("campaign", finding, stated.category, _TRIED.get(attempt.status, ""))]


def directions(state: WorkspaceState, attempt: Round, rates: Iterable[ShapeRate]) -> list[MemoryDirection]:
    """Return where an accepted attempt leaves time: each shape below its target, else the one furthest from its roof.

    Args:
        state: Rooflines and targets.
        attempt: The attempt.
        rates: Its records, judged; without targets or for simulated times there is nothing to say.
    """
    if not attempt.accepted:
        return []
    conditions = {condition.shape: condition for condition in StopConditions.of(state).conditions}
    known = [
        (rate.target_ratio, rate.record) for rate in rates if rate.target_ratio and rate.record.shape in conditions
    ]
    if not known:
        return []
    why = f"{attempt.profiles[-1].tool}: {attempt.profiles[-1].code}" if attempt.profiles else "no profile says why yet"
    missed = [(ratio, record) for ratio, record in sorted(known, key=lambda one: one[0]) if ratio < 1]
    if missed:
        return [
            MemoryDirection(
                f"{record.shape}: at {_percent(ratio)} of its target ({conditions[record.shape].roof})", why
            )
            for ratio, record in missed
        ]
    shares = [(conditions[record.shape].share(record.median_s), conditions[record.shape]) for _, record in known]
    share, furthest = min(shares, key=lambda one: one[0])
    text = f"{furthest.shape}: at {_percent(share)} of the documented {furthest.roof} roof; every target is met"
    return [MemoryDirection(text, why)]


def _percent(share: float) -> str:
    """Return a share as text, never rounded up: what is below its target does not read 100 %."""
    return f"{math.floor(share * 1e4) / 1e2:.2f} %"
