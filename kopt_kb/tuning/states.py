"""The state of a campaign: a fold over the journal's events, stored nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.workspace.attempts import History, attempts_of, new_history
from kopt_kb.workspace.attempts import apply_event as apply_to_history
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import (
    CandidateSubmitted,
    Decided,
    GateJudged,
    HypothesisStated,
    Measured,
    RoundStarted,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Stopped,
)
from kopt_kb.workspace.journal.setup_events import (
    BenchStarted,
    EnvironmentRecorded,
    NoiseMeasured,
    NoteAdded,
    ProfileRead,
)
from kopt_kb.workspace.route import Route
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.state import apply_event as apply_to_workspace
from kopt_kb.workspace.state import new_state as new_workspace_state

__all__ = ["BY", "CampaignFold", "CampaignState", "Machine", "Round", "Run", "State", "fold_campaign", "machine_of"]

BY = "kb tune"
"""Author of the notes that belong to the loop."""


class State(StrEnum):
    """Where a campaign stands."""

    DEFINE_TARGET = "DEFINE_TARGET"
    PREPARE_ENVIRONMENT = "PREPARE_ENVIRONMENT"
    READ_HISTORICAL_TIPS = "READ_HISTORICAL_TIPS"
    BASELINE = "BASELINE"
    ANALYZE = "ANALYZE"
    OPTIMIZE = "OPTIMIZE"
    VALIDATE = "VALIDATE"
    ACCEPT = "ACCEPT"
    ACCEPT_WITH_NOTE = "ACCEPT_WITH_NOTE"
    ROLLBACK = "ROLLBACK"
    REPORT = "REPORT"


_AFTER = {
    "accept": State.ACCEPT,
    "accept_with_note": State.ACCEPT_WITH_NOTE,
    "rollback": State.ROLLBACK,
    "unverified": State.ROLLBACK,
}


@dataclass(frozen=True, slots=True)
class Run:
    """One child process; `finished` is None while it runs, or for ever when it was abandoned.

    `environment` is the sequence number of the machine in force when it started.
    """

    started: RunStarted
    finished: RunFinished | None = None
    environment: int = 0


@dataclass(slots=True)
class Round:
    """One attempt; the first accepted one is the baseline.

    `level` is `quick` when it was decided on the representative shapes of a project, and `refuted` says that a later
    round found that an accepted one does not hold on all shapes.
    """

    number: int
    incumbent: str
    seq: int
    proposal: Mapping[str, Any] | None = None
    hypothesis: HypothesisStated | None = None
    candidates: dict[str, CandidateSubmitted] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    gates: dict[str, GateJudged] = field(default_factory=dict)
    gates_seq: dict[str, int] = field(default_factory=dict)
    measured: dict[str, Measured] = field(default_factory=dict)
    decided: Decided | None = None
    decided_seq: int = 0
    snapshot: SnapshotTaken | None = None
    profiled: bool = False
    level: str = ""
    level_reason: str = ""
    refuted: bool = False

    @property
    def name(self) -> str:
        """Name of the round's candidate."""
        return f"v{self.number}"

    @property
    def accepted(self) -> bool:
        """Whether its candidate became a version."""
        return self.decided is not None and self.decided.decision.startswith("accept")

    @property
    def closed(self) -> bool:
        """Whether nothing of the round is left to do."""
        return self.decided is not None and (not self.accepted or self.snapshot is not None)

    def attempts(self, candidate: str, gate: str) -> list[Run]:
        """Return the runs of a gate on a candidate, in order."""
        return [run for run in self.runs.values() if run.started.candidate == candidate and run.started.gate == gate]

    def times(self, candidate: str) -> dict[str, list[float]]:
        """Return shape → medians of the round's records of a candidate, in seconds, in order of repeats."""
        found: dict[str, list[float]] = {}
        for record in self.measured.values():
            if record.candidate == candidate:
                found.setdefault(record.shape, []).append(record.median_s)
        return found


Machine = tuple[str | None, ...]
"""What tells one machine from another: device, uuid and driver; nothing for no machine."""


def machine_of(environment: EnvironmentRecorded | None) -> Machine:
    """Return what tells this machine from another; the same device under another driver is another one."""
    return () if environment is None else (environment.device, environment.uuid, environment.driver)


@dataclass(slots=True)
class CampaignState:
    """What the events say about the campaign.

    Attributes:
        workspace: The workspace's own state: problem, specs, targets.
        campaign: What was asked for: policy, executor, proposers; None before DEFINE_TARGET is done.
        environment_seq: Event of the environment in force; 0 before PREPARE_ENVIRONMENT is done.
        tips_seq: Event of the tips that were read; 0 before that.
        environments: Sequence number → machine, of all that were recorded.
        noises: Machine → shape → its noise record.
        rounds: All rounds in order.
        masked: Versions that no proposer may see.
        benches: Names of benches: their runs and records are no round's.
        limiter: Code of the last profile read.
        stopped: The end, with its sequence number in `stopped_seq`.
        project: Of a project: hashes of its protected files, taken before the baseline.
        frozen: Of a project: CSV header and representative shapes, fixed after the baseline.
    """

    workspace: WorkspaceState
    campaign: Mapping[str, Any] | None = None
    campaign_seq: int = 0
    environment: EnvironmentRecorded | None = None
    environment_seq: int = 0
    tips_seq: int = 0
    environments: dict[int, EnvironmentRecorded] = field(default_factory=dict)
    noises: dict[Machine, dict[str, NoiseMeasured]] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    masked: set[int] = field(default_factory=set)
    benches: set[str] = field(default_factory=set)
    limiter: str = ""
    stopped: Stopped | None = None
    stopped_seq: int = 0
    project: Mapping[str, Any] | None = None
    frozen: Mapping[str, Any] | None = None

    @property
    def noise(self) -> Mapping[str, NoiseMeasured]:
        """Shape → noise of the machine in force; what another machine's repeats varied by says nothing here."""
        return self.noises.get(machine_of(self.environment), {})

    def noise_of(self, environment: int) -> Mapping[str, NoiseMeasured]:
        """Return shape → noise of the machine of this environment's sequence number."""
        return self.noises.get(machine_of(self.environments.get(environment)), {})

    @property
    def open_round(self) -> Round | None:
        """The round that is not closed."""
        return self.rounds[-1] if self.rounds and not self.rounds[-1].closed else None

    @property
    def route(self) -> Route:
        """How the workspace enters the loop."""
        return self.workspace.route

    @property
    def baseline(self) -> Round | None:
        """The first accepted round, once it is closed: what all others are compared with."""
        return next((one for one in self.rounds if one.accepted and one.closed), None)

    @property
    def reference(self) -> str | None:
        """Blob of the file whose inputs and reference judge every candidate: the one of attempt 0, as it was then."""
        return self.rounds[0].incumbent if self.rounds else self.workspace.created.kernel

    @property
    def best(self) -> Round | None:
        """The last accepted round: work always continues from it."""
        return next((one for one in reversed(self.rounds) if one.snapshot is not None and not one.refuted), None)

    @property
    def simulated(self) -> bool:
        """Whether the campaign runs on the simulator."""
        return bool(self.campaign and self.campaign["simulated"])

    @property
    def state(self) -> State:
        """Where the campaign stands: what the next step works on, or the word of the last decision."""
        if self.stopped is not None:
            return State.REPORT
        if self.campaign is None or self.route == "roofline":
            return State.DEFINE_TARGET
        if not self.environment_seq:
            return State.PREPARE_ENVIRONMENT
        if not self.tips_seq:
            return State.READ_HISTORICAL_TIPS
        return self._round_state()

    def _round_state(self) -> State:
        if self.baseline is None:
            return State.BASELINE
        last = self.rounds[-1]
        if last.decided is not None:
            return _AFTER[last.decided.decision]
        if last.hypothesis is None:
            return State.ANALYZE
        return State.VALIDATE if last.name in last.candidates else State.OPTIMIZE


class CampaignFold:
    """The state of a journal that grows: each event is taken up once."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._seq = 0
        self._state: CampaignState | None = None
        self._history: History | None = None

    @property
    def seq(self) -> int:
        """How many events were taken up."""
        return self._seq

    @property
    def history(self) -> History:
        """The attempts after the events taken up; for reading, and only until the next is taken up."""
        return self._history if self._history is not None else attempts_of(())

    def take(self, events: Iterable[Event]) -> None:
        """Take the events up that follow those taken before; raises `BadInput` if they do not begin a workspace."""
        for event in events:
            if self._state is None or self._history is None:
                self._state, self._history = CampaignState(new_workspace_state(event)), new_history(event)
            apply_to_workspace(self._state.workspace, event)
            apply_to_history(self._history, event)
            _apply(self._state, event, self._read)
            if isinstance(event.data, Decided) and event.data.refutes:
                _refute(self._state, self._history)
            self._seq = event.seq
        if self._history is not None:
            self._history.attempts = dict(sorted(self._history.attempts.items()))

    def state(self) -> CampaignState:
        """Return the state; events taken up later change only its `workspace`, which keeps growing.

        Raises:
            BadInput: No event was taken up.
        """
        if self._state is None:
            raise BadInput("the journal is empty", fix="create the workspace with `kb init`", code="KB310")
        rounds = [*self._state.rounds[:-1], *map(_copied, self._state.rounds[-1:])]
        return replace(
            self._state,
            rounds=rounds,
            environments=dict(self._state.environments),
            noises={machine: dict(one) for machine, one in self._state.noises.items()},
            masked=set(self.history.masked),
            benches=set(self._state.benches),
        )


def _copied(last: Round) -> Round:
    """Return a copy of the only round that events still change."""
    return replace(
        last,
        candidates=dict(last.candidates),
        runs=dict(last.runs),
        gates=dict(last.gates),
        gates_seq=dict(last.gates_seq),
        measured=dict(last.measured),
    )


def fold_campaign(events: Iterable[Event], read: Callable[[str], bytes]) -> CampaignState:
    """Return the campaign's state after these events; `read` gives the bytes of a blob."""
    fold = CampaignFold(read)
    fold.take(events)
    return fold.state()


def _apply(state: CampaignState, event: Event, read: Callable[[str], bytes]) -> None:
    data = event.data
    if isinstance(data, NoteAdded) and data.by.startswith(BY):
        _note(state, event, json.loads(read(data.text)))
    elif isinstance(data, EnvironmentRecorded):
        _environment(state, event.seq, data)
    elif isinstance(data, NoiseMeasured):
        _noise(state, data)
    elif isinstance(data, ProfileRead):
        state.limiter = data.code
        if state.rounds:
            state.rounds[-1].profiled = True
    elif isinstance(data, RoundStarted):
        state.rounds.append(Round(data.round, data.incumbent, event.seq))
    elif isinstance(data, Stopped):
        state.stopped, state.stopped_seq = data, event.seq
    elif isinstance(data, BenchStarted):
        state.benches.add(data.bench)
    elif state.rounds and getattr(data, "candidate", None) not in state.benches:
        _apply_round(state, state.rounds[-1], event)


def _environment(state: CampaignState, seq: int, data: EnvironmentRecorded) -> None:
    state.environments[seq] = data
    if state.campaign is not None:
        state.environment, state.environment_seq = data, seq


def _noise(state: CampaignState, data: NoiseMeasured) -> None:
    """Book noise under the machine of its run, else under the one in force."""
    run = state.rounds[-1].runs.get(data.run) if state.rounds else None
    machine = state.environments.get(run.environment) if run is not None else state.environment
    state.noises.setdefault(machine_of(machine), {})[data.shape] = data


def _refute(state: CampaignState, history: History) -> None:
    """Take back the rounds whose attempts are refuted."""
    refuted = {one.number for one in history.attempts.values() if one.refuted_by is not None}
    state.rounds[:] = [replace(one, refuted=True) if one.number in refuted else one for one in state.rounds]


def _note(state: CampaignState, event: Event, body: Mapping[str, Any]) -> None:
    if body["kind"] == "campaign":
        state.campaign, state.campaign_seq = body, event.seq
        state.environment, state.environment_seq, state.tips_seq = None, 0, 0
        state.stopped, state.stopped_seq = None, 0
    elif body["kind"] == "tips":
        state.tips_seq = event.seq
    elif body["kind"] == "proposal" and state.rounds:
        state.rounds[-1].proposal = {**body, "seq": event.seq}
    elif body["kind"] == "project":
        state.project = body
    elif body["kind"] == "frozen":
        state.frozen = body
    elif body["kind"] == "level" and state.rounds:
        state.rounds[-1].level, state.rounds[-1].level_reason = body["level"], body["reason"]


def _apply_round(state: CampaignState, last: Round, event: Event) -> None:
    data = event.data
    if isinstance(data, HypothesisStated):
        last.hypothesis = data
    elif isinstance(data, CandidateSubmitted):
        last.candidates[data.candidate] = data
    elif isinstance(data, RunStarted):
        last.runs[data.run] = Run(data, environment=state.environment_seq)
    elif isinstance(data, RunFinished) and data.run in last.runs:
        last.runs[data.run] = replace(last.runs[data.run], finished=data)
    elif isinstance(data, GateJudged):
        last.gates[data.gate], last.gates_seq[data.gate] = data, event.seq
    elif isinstance(data, Measured):
        last.measured[data.id] = data
    elif isinstance(data, Decided):
        last.decided, last.decided_seq = data, event.seq
    elif isinstance(data, SnapshotTaken):
        last.snapshot = data
