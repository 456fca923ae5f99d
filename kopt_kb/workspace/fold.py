"""The one fold: from events to the state of a workspace and its campaign.

    growing = Fold(store.get)        # each event is taken up once
    growing.take(events)
    state = growing.state()          # stays as it is while the fold grows

`read` gives the bytes of a blob: version 1 journals keep the loop's own events in blobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.analysis.roofline.recorded import read_rooflines
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import recorded_problem
from kopt_kb.workspace.journal import campaign_events as campaign
from kopt_kb.workspace.journal import round_events as events
from kopt_kb.workspace.journal import setup_events as setup
from kopt_kb.workspace.journal.compat import present_kind
from kopt_kb.workspace.journal.events import Event, EventData, ForeignData
from kopt_kb.workspace.journal.pack_events import pack_of
from kopt_kb.workspace.rounds import ACCEPTED, ISA_SCAN, Bench, Candidate, ChildRun, Remark, Round
from kopt_kb.workspace.route import recorded_task
from kopt_kb.workspace.state import WorkspaceState, machine_of

__all__ = ["Fold", "fold", "folded"]

LOOP = "kb tune"
"""Author of what the loop itself says; in version 1 journals a colon and the proposer follow."""


class Fold:
    """The state of a journal that grows.

    Args:
        read: Gives the bytes of a blob.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._state: WorkspaceState | None = None

    @property
    def seq(self) -> int:
        """How many events were taken up."""
        return self._state.seq if self._state is not None else 0

    def take(self, more: Iterable[Event]) -> None:
        """Take the events up that follow those taken before.

        Raises:
            BadInput: The first is not workspace_created, or its problem can't be read.
        """
        for event in more:
            if self._state is None:
                self._state = _begin(event)
            state, data = self._state, event.data
            state.seq, state.head, state.times[event.seq] = event.seq, event.zh, event.t
            if isinstance(data, setup.NoteAdded) and data.by.startswith(LOOP):
                data = self._typed(state, event.seq, data)
            kind = type(data)
            if event.kind in _LISTED and kind is not ForeignData:
                field = _LISTED[event.kind]
                setattr(state, field, {**getattr(state, field), event.seq: data})
            elif kind in _TAKEN:
                _TAKEN[kind](state, event, data)
            elif kind in _OF_ROUND:
                number, field = _OF_ROUND[kind]
                _change(state, getattr(data, number), event.t, **{field: data})
            elif kind in _OF_STATE:
                setattr(state, _OF_STATE[kind], data)
            elif pack := pack_of(present_kind(event.kind)):
                state.brought = {**state.brought, pack: {**state.brought.get(pack, {}), event.seq: data}}

    def _typed(self, state: WorkspaceState, seq: int, note: setup.NoteAdded) -> EventData:
        """Return what a note of the loop stands for; one that can't be read stays a note, and the state says so."""
        from kopt_kb.workspace.journal.old_notes import typed_note

        try:
            return typed_note(note, self._read, state.current) or note
        except BadInput as error:
            state.unread = {**state.unread, seq: f"{error.where}: {error.what}"}
            return note

    def state(self) -> WorkspaceState:
        """Return the state; of events taken up later only `measured`, `runs` and `times` show.

        Raises:
            BadInput: No event was taken up.
        """
        if self._state is None:
            raise BadInput("the journal is empty", fix="create the workspace with `kb init`", code="KB310")
        return replace(self._state)


def fold(more: Iterable[Event], read: Callable[[str], bytes]) -> WorkspaceState:
    """Return the state after these events; raises as `Fold.take` and `Fold.state` do."""
    whole = Fold(read)
    whole.take(more)
    return whole.state()


def _begin(first: Event) -> WorkspaceState:
    created = first.data
    if not isinstance(created, setup.WorkspaceCreated):
        raise BadInput(f"the journal begins with {first.kind}, not workspace_created", code="KB310")
    task = recorded_task(created.problem)
    problem = recorded_problem(created.problem)
    zero = Round(0, first.t, is_baseline=task.route != "pytorch")
    return WorkspaceState(first.seq, first.zh, created, problem, task, attempts={0: zero})


# ---- the workspace -------------------------------------------------------------------------------


def _specs(state: WorkspaceState, _: Event, data: setup.SpecsRegistered) -> None:
    known = {row.key for row in data.rows}
    state.specs = {**state.specs, **{row.key: row for row in data.rows}}
    unknown = {**state.unknown, **{row.key: row for row in data.unknown}}
    state.unknown = {key: row for key, row in unknown.items() if key not in known}


def _targets(state: WorkspaceState, event: Event, data: setup.TargetSet) -> None:
    if state.targets is not None:
        state.superseded.append(state.targets)
    state.targets, state.targets_seq = data, event.seq
    state.rooflines = read_rooflines(data.work.get("rooflines", ()), where=f"event {event.seq}: rooflines")
    changed = data.work.get("problem")
    if changed:
        state.problem = recorded_problem(changed)
    framework = data.work.get("framework")
    if isinstance(framework, str) and framework:
        state.task = replace(state.task, framework=framework)


def _environment(state: WorkspaceState, event: Event, data: setup.EnvironmentRecorded) -> None:
    state.environments = {**state.environments, event.seq: data}
    if state.campaign is not None:
        state.environment, state.environment_seq = data, event.seq


def _bench(state: WorkspaceState, event: Event, data: setup.BenchStarted) -> None:
    state.benches = {**state.benches, data.bench: Bench(event.seq, event.t, data)}
    state.environments = {**state.environments, event.seq: data.machine}


def _noise(state: WorkspaceState, _: Event, data: setup.NoiseMeasured) -> None:
    """Book noise under the machine of its run, else under the one in force."""
    run = state.runs.get(data.run)
    machine = machine_of(state.environments.get(run.environment) if run is not None else state.environment)
    state.noises = {**state.noises, machine: {**state.noises.get(machine, {}), data.shape: data}}
    state.noise_records = (*state.noise_records, data)


def _adopted(state: WorkspaceState, event: Event, data: setup.FileAdopted) -> None:
    state.adopted = (*state.adopted, (event.seq, event.t, data))


# ---- the campaign --------------------------------------------------------------------------------


def _confirmed(state: WorkspaceState, event: Event, data: campaign.CampaignConfirmed) -> None:
    state.campaign, state.campaign_seq = data, event.seq
    state.environment, state.environment_seq = None, 0
    state.tips, state.tips_seq = None, 0
    state.stopped = None
    unreal = "; every time is simulated, nothing was measured" if data.simulated else ""
    words = f"campaign under policy {data.policy.get('name')}, executor {data.executor}{unreal}"
    _say(state, Remark(event.seq, event.t, "user", "", LOOP, words))


def _tips(state: WorkspaceState, event: Event, data: campaign.TipsRead) -> None:
    state.tips, state.tips_seq = data, event.seq
    if data.text.strip():
        _say(state, Remark(event.seq, event.t, "tip", "", LOOP, data.text.strip()))


# ---- rounds --------------------------------------------------------------------------------------


def _change(state: WorkspaceState, number: int, t: str, **fields: Any) -> None:
    """Replace a round by one with these fields; one that no event named before begins at `t`."""
    made = replace(state.attempts.get(number) or Round(number, t), **fields)
    attempts = {**state.attempts, number: made}
    in_order = number in state.attempts or number > max(state.attempts)
    state.attempts = attempts if in_order else dict(sorted(attempts.items()))


def _now(state: WorkspaceState) -> Round:
    return state.attempts[state.current]


def _say(state: WorkspaceState, entry: Remark) -> None:
    now = _now(state)
    _change(state, now.number, now.t, notes=(*now.notes, entry))


def _round(state: WorkspaceState, event: Event, data: events.RoundStarted) -> None:
    state.current = data.round
    known = state.attempts.get(data.round)
    seq = known.seq if known is not None and known.seq else event.seq
    _change(state, data.round, event.t, incumbent=data.incumbent, seq=seq)


def _proposal(state: WorkspaceState, event: Event, data: campaign.ProposalMade) -> None:
    _change(state, data.round, event.t, proposal=data, proposal_seq=event.seq)


def _level(state: WorkspaceState, event: Event, data: campaign.LevelChosen) -> None:
    _change(state, data.round, event.t, level=data.level, level_reason=data.reason)


def _candidate(state: WorkspaceState, event: Event, data: events.CandidateSubmitted) -> None:
    own = state.attempts[data.round].candidates if data.round in state.attempts else {}
    made = Candidate(data.candidate, data)
    _change(state, data.round, event.t, candidates={**own, data.candidate: made})


def _run_started(state: WorkspaceState, event: Event, data: events.RunStarted) -> None:
    run = ChildRun(data, environment=state.environment_seq)
    state.runs[data.run] = run
    if data.candidate not in state.benches:
        now = _now(state)
        _change(state, now.number, event.t, runs={**now.runs, data.run: run})


def _run_finished(state: WorkspaceState, event: Event, data: events.RunFinished) -> None:
    if data.run not in state.runs:
        return
    run = replace(state.runs[data.run], finished=data)
    state.runs[data.run] = run
    now = _now(state)
    if data.run in now.runs:
        _change(state, now.number, event.t, runs={**now.runs, data.run: run})


def _owner(state: WorkspaceState, name: str) -> Round:
    """Return the round that submitted a candidate; the present one when none did."""
    now = _now(state)
    rounds = (now, *state.attempts.values())
    return next((round_ for round_ in rounds if name in round_.candidates), now)


def _judged(state: WorkspaceState, event: Event, data: events.GateJudged) -> None:
    owner = _owner(state, data.candidate)
    known = owner.candidates.get(data.candidate, Candidate(data.candidate))
    made = replace(known, gates=(*known.gates, data))
    _change(state, owner.number, event.t, candidates={**owner.candidates, data.candidate: made})


def _measured(state: WorkspaceState, event: Event, data: events.Measured) -> None:
    state.measured[data.id] = data
    bench = state.benches.get(data.candidate)
    if bench is not None:
        more = replace(bench, records=(*bench.records, data))
        state.benches = {**state.benches, data.candidate: more}
        return
    owner, now = _owner(state, data.candidate), _now(state)
    candidates = now.candidates
    if data.candidate not in owner.candidates:
        candidates = {**candidates, data.candidate: Candidate(data.candidate)}
    measured = {**now.measured, data.id: data}
    _change(state, now.number, event.t, candidates=candidates, measured=measured, ended=event.seq)


def _profile(state: WorkspaceState, event: Event, data: setup.ProfileRead) -> None:
    now = _now(state)
    if data.tool == ISA_SCAN:
        _change(state, now.number, event.t, scans=(*now.scans, data))
        return
    state.profiles = {**state.profiles, event.seq: data}
    _change(state, now.number, event.t, profiles=(*now.profiles, data))


def _decided(state: WorkspaceState, event: Event, data: events.Decided) -> None:
    made = {"decided": data, "decided_t": event.t, "decided_seq": event.seq, "ended": event.seq}
    if data.decision in ACCEPTED and state.first is None:
        made["is_baseline"] = True
    _change(state, data.round, event.t, **made)
    for number in data.refutes:
        # Never the baseline, which all others rest on.
        one = state.attempts.get(number)
        if one is not None and one.accepted and not one.is_baseline and number != data.round:
            _change(state, number, event.t, refuted_by=data.round)


# ---- words ---------------------------------------------------------------------------------------


def _note(state: WorkspaceState, event: Event, data: setup.NoteAdded) -> None:
    _say(state, Remark(event.seq, event.t, data.topic, data.text, data.by))


def _noted(state: WorkspaceState, event: Event, data: setup.MemoryNoted) -> None:
    one = state.attempts.get(data.version)
    if one is not None:
        entry = Remark(event.seq, event.t, data.field, data.text, data.by)
        _change(state, one.number, event.t, entries=(*one.entries, entry))


def _masked(state: WorkspaceState, event: Event, data: events.MemoryMasked) -> None:
    _mask(state, event, data.versions, data.reason)


def _unmasked(state: WorkspaceState, event: Event, data: events.MemoryUnmasked) -> None:
    _mask(state, event, data.versions, "")


def _mask(state: WorkspaceState, event: Event, versions: tuple[int, ...], reason: str) -> None:
    for number in versions:
        if number in state.attempts:
            _change(state, number, event.t, mask=reason)


_TAKEN: Mapping[type[EventData], Callable[[WorkspaceState, Event, Any], None]] = {
    setup.SpecsRegistered: _specs, setup.TargetSet: _targets, setup.EnvironmentRecorded: _environment,
    setup.BenchStarted: _bench, setup.NoiseMeasured: _noise, setup.ProfileRead: _profile,
    setup.FileAdopted: _adopted, setup.NoteAdded: _note, setup.MemoryNoted: _noted,
    campaign.CampaignConfirmed: _confirmed, campaign.TipsRead: _tips, campaign.ProposalMade: _proposal,
    campaign.LevelChosen: _level,
    events.RoundStarted: _round, events.CandidateSubmitted: _candidate,
    events.RunStarted: _run_started, events.RunFinished: _run_finished, events.GateJudged: _judged,
    events.Measured: _measured, events.Decided: _decided,
    events.MemoryMasked: _masked, events.MemoryUnmasked: _unmasked,
}  # fmt: skip
"""What each kind of event changes; a resumed campaign changes nothing, nor does what a newer version wrote.

What a pack wrote is handed on as it is: the pack computes from `WorkspaceState.pack_events` what it needs.
"""

_OF_ROUND: Mapping[type[EventData], tuple[str, str]] = {
    events.HypothesisStated: ("round", "hypothesis"), events.SnapshotTaken: ("version", "snapshot"),
    events.LauncherConfirmed: ("version", "launcher"),
}  # fmt: skip
"""Events that a round keeps as they are: where they say which round, and the round's field."""

_OF_STATE: Mapping[type[EventData], str] = {
    campaign.ProjectProtected: "protected", campaign.ProjectFrozen: "frozen", campaign.Stopped: "stopped",
    campaign.Blocked: "blocked", campaign.CampaignNamed: "named", campaign.PlanMade: "plan",
}  # fmt: skip
"""Events that the state keeps as they are, the last of each."""

_LISTED: Mapping[str, str] = {
    "gap_accounted": "gaps", "category_chosen": "choices", "review_held": "reviews", "opportunity": "opportunities",
    "reachable_measured": "reachables",
}  # fmt: skip
"""Kinds of events that the state keeps as they are, all of them by sequence number."""


_KNOWN: dict[Path, Fold] = {}
_KEPT = 8


def folded(journal: Path, more: tuple[Event, ...], read: Callable[[str], bytes]) -> WorkspaceState:
    """Return the state after a journal's events; events that were folded in this process before are not again."""
    path = journal.absolute()
    known = _KNOWN.pop(path, None)
    grown = known is not None and 0 < known.seq <= len(more) and more[known.seq - 1].zh == known.state().head
    if known is None or not grown or known.state().unread:
        known = Fold(read)
    known.take(more[known.seq :])
    if known.seq:
        _KNOWN[path] = known
    while len(_KNOWN) > _KEPT:
        del _KNOWN[next(iter(_KNOWN))]
    return known.state()
