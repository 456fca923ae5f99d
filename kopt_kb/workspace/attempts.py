"""The attempts of a campaign, folded from its events: attempt n is version n, round-<n+1> and memory/v<n>.json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kopt_kb.quantity.statistics import geometric_mean
from kopt_kb.workspace.journal import round_events as rounds
from kopt_kb.workspace.journal import setup_events as setup
from kopt_kb.workspace.journal.events import Event, EventData
from kopt_kb.workspace.route import Route, route_of

__all__ = [
    "ACCEPTED",
    "SIMULATOR",
    "Attempt",
    "Bench",
    "Candidate",
    "Entry",
    "History",
    "apply_event",
    "attempts_of",
    "new_history",
    "standing",
]

ACCEPTED = frozenset({"accept", "accept_with_note"})
"""Decisions that make the candidate the incumbent."""

SIMULATOR = "simulator"
"""Device name of environments whose times are computed."""


@dataclass(slots=True)
class Candidate:
    """A kernel that was judged in an attempt, and the word of each gate, the latest last."""

    name: str
    submitted: rounds.CandidateSubmitted | None = None
    gates: list[rounds.GateJudged] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something said in words: by whom, when, as which event; `text` is a blob."""

    seq: int
    t: str
    kind: str
    text: str
    by: str


@dataclass(slots=True)
class Attempt:
    """One attempt.

    Attributes:
        number: 0 for the first; failures consume numbers.
        t: UTC time of its first event.
        incumbent: Blob it starts from; empty when no event says so.
        candidates: By name, in the order of submission.
        records: Measurements taken during it, of its candidates and of the incumbent.
        mask: Why no reader may see it; empty when readers may.
        is_baseline: Whether it is what all others are compared with: attempt 0, or the first accepted one where the
            kernel has to be implemented first.
        ended: Sequence number of its decision, or of its last record while there is none.
        refuted_by: The later round that was to confirm it and did not; None: nothing refuted it.
    """

    number: int
    t: str
    incumbent: str = ""
    hypothesis: rounds.HypothesisStated | None = None
    candidates: dict[str, Candidate] = field(default_factory=dict)
    records: list[rounds.Measured] = field(default_factory=list)
    profiles: list[setup.ProfileRead] = field(default_factory=list)
    notes: list[Entry] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    decided: rounds.Decided | None = None
    decided_t: str = ""
    snapshot: rounds.SnapshotTaken | None = None
    mask: str = ""
    is_baseline: bool = False
    ended: int = 0
    refuted_by: int | None = None

    @property
    def status(self) -> str:
        """`baseline`, a decision, `refuted` for an accepted one taken back, or `open` while there is none."""
        if self.refuted_by is not None:
            return "refuted"
        if self.decided is not None and not (self.is_baseline and self.decided.decision in ACCEPTED):
            return self.decided.decision
        done = self.decided is not None or self.snapshot is not None or bool(self.records)
        return "baseline" if self.is_baseline and done else "open"

    @property
    def accepted(self) -> bool:
        """Whether its kernel became the incumbent and nothing refuted it."""
        if self.decided is None or self.refuted_by is not None:
            return self.status == "baseline"
        return self.decided.decision in ACCEPTED

    @property
    def chosen(self) -> Candidate | None:
        """The candidate the decision rests on; without one the last measured, else the last submitted."""
        submitted = [one.name for one in self.candidates.values() if one.submitted is not None]
        own = submitted or list(self.candidates)
        named = self.decided.measured if self.decided is not None else ()
        for ids in (frozenset(named), None):
            for record in reversed(self.records):
                if record.candidate in own and (ids is None or record.id in ids):
                    return self.candidates[record.candidate]
        return self.candidates[own[-1]] if own else None

    def standing(self, name: str) -> dict[str, rounds.Measured]:
        """Shape → the record that stands for a candidate in this attempt."""
        return standing(one for one in self.records if one.candidate == name)

    @property
    def own_records(self) -> dict[str, rounds.Measured]:
        """Shape → the record that stands for this attempt's kernel."""
        return self.standing(self.chosen.name) if self.chosen is not None else {}


def standing(records: Iterable[rounds.Measured]) -> dict[str, rounds.Measured]:
    """Return shape → the record that stands for one kernel: of its repeats the (lower) median one."""
    repeats: dict[str, list[rounds.Measured]] = {}
    for record in records:
        repeats.setdefault(record.shape, []).append(record)
    return {shape: _middle(found) for shape, found in repeats.items()}


def _middle(repeats: list[rounds.Measured]) -> rounds.Measured:
    return sorted(repeats, key=lambda one: one.median_s)[(len(repeats) - 1) // 2]


@dataclass(slots=True)
class Bench:
    """A kernel measured outside any round: its event, when, and the records."""

    seq: int
    t: str
    started: setup.BenchStarted
    records: list[rounds.Measured] = field(default_factory=list)


@dataclass(slots=True)
class History:
    """All attempts and what belongs to none of them.

    Attributes:
        benches: Benches by name; their records are no attempt's.
        environments: Sequence number → machine.
        runs: Run id → its end, once it has one.
        adopted: Adoptions, with sequence number and time.
        stopped: Why the campaign ended, or None.
        route: How the workspace enters the loop; "kernel" where the journal does not say.
    """

    attempts: dict[int, Attempt]
    benches: dict[str, Bench] = field(default_factory=dict)
    environments: dict[int, setup.EnvironmentRecorded] = field(default_factory=dict)
    runs: dict[str, rounds.RunFinished] = field(default_factory=dict)
    noise: list[setup.NoiseMeasured] = field(default_factory=list)
    adopted: list[tuple[int, str, setup.FileAdopted]] = field(default_factory=list)
    stopped: rounds.Stopped | None = None
    blocked: rounds.Blocked | None = None
    current: int = 0
    route: Route = "kernel"

    @property
    def baseline(self) -> Attempt | None:
        """What all others are compared with; None before a kernel that has to be implemented first is accepted."""
        return next((one for one in self.attempts.values() if one.is_baseline), None)

    @property
    def incumbent(self) -> Attempt:
        """The latest accepted attempt; attempt 0 when there is none."""
        accepted = [one for one in self.attempts.values() if one.accepted]
        return accepted[-1] if accepted else self.attempts[0]

    def protected(self) -> frozenset[int]:
        """Numbers that can't be masked: the baseline, the incumbent and the fastest accepted attempt."""
        scores = {one.number: _mean_s(one) for one in self.attempts.values() if one.accepted}
        known = {number: score for number, score in scores.items() if score is not None}
        fastest = {min(known, key=lambda number: known[number])} if known else set()
        baseline = self.baseline
        return frozenset({baseline.number, self.incumbent.number, *fastest}) if baseline is not None else frozenset()

    def simulated(self, attempt: Attempt) -> bool:
        """Return whether an attempt's times were computed by the simulator instead of measured."""
        machines = [self.environments.get(record.environment) for record in attempt.records]
        return any(one is not None and one.device == SIMULATOR for one in machines)

    @property
    def masked(self) -> dict[int, str]:
        """Number → reason of what the events mask."""
        asked = {one.number: one.mask for one in self.attempts.values() if one.mask}
        kept = self.protected() if asked else frozenset()
        return {number: reason for number, reason in asked.items() if number not in kept}

    @property
    def open_attempt(self) -> Attempt | None:
        """The attempt that was started and not decided."""
        last = self.attempts[max(self.attempts)]
        return last if last.number and last.decided is None else None


def _mean_s(one: Attempt) -> float | None:
    """Return the geometric mean of the medians, in seconds."""
    return geometric_mean(record.median_s for record in one.own_records.values() if record.median_s > 0)


def attempts_of(events: Iterable[Event]) -> History:
    """Return the attempts after these events; attempt 0 always exists."""
    history: History | None = None
    for event in events:
        if history is None:
            history = new_history(event)
        apply_event(history, event)
    if history is None:
        return History({0: Attempt(0, "1970-01-01T00:00:00.000000Z", is_baseline=True)})
    history.attempts = dict(sorted(history.attempts.items()))
    return history


def new_history(first: Event) -> History:
    """Return what is known before a journal's first event is applied: attempt 0, and the route of the workspace."""
    created = first.data
    route = route_of(created.problem) if isinstance(created, setup.WorkspaceCreated) else "kernel"
    return History({0: Attempt(0, first.t, is_baseline=route != "pytorch")}, route=route)


def _attempt(history: History, number: int, t: str) -> Attempt:
    return history.attempts.setdefault(number, Attempt(number, t))


def apply_event(history: History, event: Event) -> None:
    """Take one more event up; `attempts_of` sorts the attempts by number at the end."""
    data = event.data
    if isinstance(data, rounds.RoundStarted):
        history.current = data.round
        started = _attempt(history, data.round, event.t)
        started.incumbent = data.incumbent
    elif isinstance(data, rounds.HypothesisStated):
        _attempt(history, data.round, event.t).hypothesis = data
    elif isinstance(data, rounds.CandidateSubmitted):
        owner = _attempt(history, data.round, event.t)
        owner.candidates[data.candidate] = Candidate(data.candidate, data)
    elif isinstance(data, rounds.Decided):
        decided = _attempt(history, data.round, event.t)
        decided.decided, decided.decided_t, decided.ended = data, event.t, event.seq
        if data.decision in ACCEPTED and history.baseline is None:
            decided.is_baseline = True
        _refute(history, data)
    elif isinstance(data, rounds.SnapshotTaken):
        _attempt(history, data.version, event.t).snapshot = data
    elif not _apply_evidence(history, data, event.seq):
        _apply_words(history, event)


def _refute(history: History, data: rounds.Decided) -> None:
    """Take back the accepted attempts that a decision refutes; never the baseline, which all others rest on."""
    for number in data.refutes:
        found = history.attempts.get(number)
        if found is not None and found.accepted and not found.is_baseline and number != data.round:
            found.refuted_by = data.round


def _apply_evidence(history: History, data: EventData, seq: int) -> bool:
    """Take up what machines found; False when the event is something else."""
    now = history.attempts[history.current]
    if isinstance(data, rounds.Measured):
        _measured(history, now, data, seq)
    elif isinstance(data, rounds.GateJudged):
        _candidate(history, now, data.candidate).gates.append(data)
    elif isinstance(data, rounds.RunFinished):
        history.runs[data.run] = data
    elif isinstance(data, setup.ProfileRead):
        now.profiles.append(data)
    elif isinstance(data, setup.NoiseMeasured):
        history.noise.append(data)
    elif isinstance(data, rounds.Stopped):
        history.stopped = data
    elif isinstance(data, rounds.Blocked):
        history.blocked = data
    else:
        return False
    return True


def _candidate(history: History, now: Attempt, name: str) -> Candidate:
    """Return the candidate as this attempt or an earlier one submitted it; an unknown one joins this attempt."""
    if name in now.candidates:
        return now.candidates[name]
    for one in history.attempts.values():
        if name in one.candidates:
            return one.candidates[name]
    return now.candidates.setdefault(name, Candidate(name))


def _measured(history: History, now: Attempt, data: rounds.Measured, seq: int) -> None:
    if data.candidate in history.benches:
        history.benches[data.candidate].records.append(data)
        return
    _candidate(history, now, data.candidate)
    now.records.append(data)
    now.ended = seq


def _apply_words(history: History, event: Event) -> None:
    data = event.data
    if isinstance(data, setup.NoteAdded):
        entry = Entry(event.seq, event.t, data.topic, data.text, data.by)
        history.attempts[history.current].notes.append(entry)
    elif isinstance(data, setup.MemoryNoted) and data.version in history.attempts:
        entry = Entry(event.seq, event.t, data.field, data.text, data.by)
        history.attempts[data.version].entries.append(entry)
    elif isinstance(data, rounds.MemoryMasked):
        _set_mask(history, data.versions, data.reason)
    elif isinstance(data, rounds.MemoryUnmasked):
        _set_mask(history, data.versions, "")
    elif isinstance(data, setup.FileAdopted):
        history.adopted.append((event.seq, event.t, data))
    elif isinstance(data, setup.EnvironmentRecorded):
        history.environments[event.seq] = data
    elif isinstance(data, setup.BenchStarted):
        history.benches[data.bench] = Bench(event.seq, event.t, data)
        history.environments[event.seq] = data.machine


def _set_mask(history: History, versions: tuple[int, ...], reason: str) -> None:
    for number in versions:
        if number in history.attempts:
            history.attempts[number].mask = reason
