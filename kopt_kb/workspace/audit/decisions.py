"""Decisions held against what they rest on: gates, contests, and the level of trust of their records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kopt_kb.launch.candidate.answers import LEVELS, Contest, Timing, Trust
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.audit.timings import timing_of
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.pack_events import pack_of
from kopt_kb.workspace.journal.round_events import Decided, GateJudged, Measured, RunFinished, RunStarted
from kopt_kb.workspace.rounds import ACCEPTED

__all__ = ["decision_findings"]

_JOURNAL = "journal.jsonl"
_FIX = "judge the round again; its decision does not stand"


def decision_findings(events: tuple[Event, ...], store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each claim of more trust than a run gave, and each version accepted against gate or contest.

    Events of a round come before its decision, so only those before it count.
    """
    kinds: dict[str, RunStarted] = {}
    timed: dict[str, Timing] = {}
    levels: dict[str, Trust] = {}
    failed: dict[str, str] = {}
    passed: dict[str, set[str]] = {}
    required: tuple[str, ...] = ()
    for event in events:
        data = event.data
        if isinstance(data, RunStarted):
            kinds[data.run] = data
        elif isinstance(data, RunFinished) and (answer := timing_of(data, kinds, store)) is not None:
            timed[data.run] = answer
        elif isinstance(data, Measured):
            levels[data.id] = data.trust
            yield from _of_record(event.seq, data, timed.get(data.run))
        elif isinstance(data, GateJudged):
            if data.result == "fail":
                failed[data.candidate] = data.gate
            elif data.result == "pass":
                passed.setdefault(data.candidate, set()).add(data.gate)
        elif isinstance(data, CampaignConfirmed):
            required = _core_gates(data)
        elif isinstance(data, Decided):
            contest = _last_contest(data.round, kinds, timed)
            yield from _of_decision(event.seq, data, levels, failed.get(f"v{data.round}", ""), contest)
            yield from _unfounded(event.seq, data, levels, passed.get(f"v{data.round}", set()), required)


def _core_gates(campaign: CampaignConfirmed) -> tuple[str, ...]:
    """Return the gates of the core without which the campaign's policy accepts nothing."""
    named = campaign.policy.get("required_gates")
    gates = named if isinstance(named, list | tuple) else ()
    return tuple(one for one in gates if isinstance(one, str) and not pack_of(one))


def _of_record(seq: int, record: Measured, answer: Timing | None) -> Iterator[AuditFinding]:
    if answer is None:
        return
    given = answer.basis.trust if answer.basis is not None else "reported"
    if LEVELS.index(record.trust) > LEVELS.index(given):
        text = f"record {record.id} is said to be {record.trust}, its run {record.run} is {given}"
        yield AuditFinding("record", _JOURNAL, seq, text, _FIX)


def _of_decision(
    seq: int, data: Decided, levels: Mapping[str, Trust], failed: str, contest: Contest | None
) -> Iterator[AuditFinding]:
    named: Sequence[Trust] = [levels[one] for one in data.measured if one in levels]
    lowest = min(named, key=LEVELS.index, default=data.trust)
    wrong = []
    if LEVELS.index(data.trust) > LEVELS.index(lowest):
        wrong.append(f"is said to rest on {data.trust} times, and one of them is {lowest}")
    if data.decision in ACCEPTED and failed:
        wrong.append(f"is accepted, and the gate {failed} failed")
    if data.decision in ACCEPTED and contest is not None and contest.verdict != "faster":
        wrong.append(f"is accepted, and its contest says {contest.verdict}")
    for one in wrong:
        yield AuditFinding("record", _JOURNAL, seq, f"round {data.round} {one}", _FIX)


def _unfounded(
    seq: int, data: Decided, levels: Mapping[str, Trust], passed: set[str], required: tuple[str, ...]
) -> Iterator[AuditFinding]:
    """Yield a finding for a decision on records that the journal lacks, or accepted without a gate of its policy."""
    lost = [one for one in data.measured if one not in levels]
    if lost:
        yield AuditFinding("record", _JOURNAL, seq, f"round {data.round} rests on {lost[0]}, which is no record", _FIX)
    lacks = [gate for gate in required if gate not in passed]
    if data.decision in ACCEPTED and lacks:
        text = f"round {data.round} is accepted, and the gate {lacks[0]} passed nothing"
        yield AuditFinding("record", _JOURNAL, seq, text, _FIX)


def _last_contest(number: int, kinds: Mapping[str, RunStarted], timed: Mapping[str, Timing]) -> Contest | None:
    """Return the contest of a round's last timing that gave times; None where none was held."""
    names = {f"v{number}", f"v{number}.again", f"v{number}.quick", f"v{number}.quick.again"}
    held = [one for run, one in timed.items() if kinds[run].candidate in names and not one.problem]
    return held[-1].contest if held else None
