"""What the journal says of one round: hypothesis, candidates, runs, records and decision; and of one bench."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.quantity.statistics import geometric_mean
from kopt_kb.workspace.journal import campaign_events as campaign
from kopt_kb.workspace.journal import round_events as events
from kopt_kb.workspace.journal import setup_events as setup

__all__ = [
    "ACCEPTED",
    "ISA_SCAN",
    "SIMULATOR",
    "Bench",
    "Candidate",
    "ChildRun",
    "Remark",
    "Round",
    "Status",
    "standing",
]

ISA_SCAN = "kb isa"
"""Tool of a `profile_read` that holds instruction counts of compiled code; it names no bottleneck."""

ACCEPTED = frozenset({"accept", "accept_with_note"})
"""Decisions that make the candidate the incumbent."""

Status = Literal["open", "baseline", "accept", "accept_with_note", "rollback", "unverified", "refuted"]
"""Where a round stands: open, the measured baseline, its decision, or accepted and refuted by a later one."""

SIMULATOR = "simulator"
"""Device name of environments whose times are computed."""


@dataclass(frozen=True, slots=True)
class ChildRun:
    """One child process; `finished` is None while it runs, or for ever when it was abandoned.

    `environment` is the sequence number of the machine in force when it started.
    """

    started: events.RunStarted
    finished: events.RunFinished | None = None
    environment: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel that was judged in a round, and the word of each gate, the latest last."""

    name: str
    submitted: events.CandidateSubmitted | None = None
    gates: tuple[events.GateJudged, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """Something said in words: by whom, when, as which event; `text` is a blob, or empty where `words` says it."""

    seq: int
    t: str
    kind: str
    text: str
    by: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round: attempt n is version n and, in folders named as the first seed has it, round-<n+1>.

    The first accepted one is the baseline. Every event that changes a round makes a new one: a state that was read
    stays as it was.

    Attributes:
        number: 0 for the first; failures consume numbers.
        t: UTC time of its first event.
        seq: Event that began it; 0 for round 0 while nothing did.
        incumbent: Blob it starts from; empty when no event says so.
        proposal: What was proposed for it, with the event in `proposal_seq`.
        candidates: By name, in the order of submission.
        runs: Its runs by id.
        measured: Records taken during it by id, of its candidates and of the incumbent.
        level: `quick` when it was decided on the representative shapes of a project.
        mask: Why no reader may see it; empty when readers may.
        is_baseline: Whether it is what all others are compared with: round 0, or the first accepted one where the
            kernel has to be implemented first.
        ended: Sequence number of its decision, or of its last record while there is none.
        refuted_by: The later round that was to confirm it and did not; None: nothing refuted it.
        launcher: What its own launcher was seen to do; None: nobody saw it.
    """

    number: int
    t: str
    seq: int = 0
    incumbent: str = ""
    proposal: campaign.ProposalMade | None = None
    proposal_seq: int = 0
    hypothesis: events.HypothesisStated | None = None
    candidates: Mapping[str, Candidate] = field(default_factory=dict)
    runs: Mapping[str, ChildRun] = field(default_factory=dict)
    measured: Mapping[str, events.Measured] = field(default_factory=dict)
    profiles: tuple[setup.ProfileRead, ...] = ()
    scans: tuple[setup.ProfileRead, ...] = ()
    notes: tuple[Remark, ...] = ()
    entries: tuple[Remark, ...] = ()
    decided: events.Decided | None = None
    decided_t: str = ""
    decided_seq: int = 0
    snapshot: events.SnapshotTaken | None = None
    level: str = ""
    level_reason: str = ""
    mask: str = ""
    is_baseline: bool = False
    ended: int = 0
    refuted_by: int | None = None
    launcher: events.LauncherConfirmed | None = None

    @property
    def name(self) -> str:
        """Name of the round's own candidate and of its version."""
        return f"v{self.number}"

    @property
    def status(self) -> Status:
        """`baseline`, a decision, `refuted` for an accepted one taken back, or `open` while there is none."""
        if self.refuted_by is not None:
            return "refuted"
        if self.decided is not None and not (self.is_baseline and self.decided.decision in ACCEPTED):
            return self.decided.decision
        done = self.decided is not None or self.snapshot is not None or bool(self.measured)
        return "baseline" if self.is_baseline and done else "open"

    @property
    def accepted(self) -> bool:
        """Whether its kernel became the incumbent and nothing refuted it; a measured baseline needs no decision."""
        if self.refuted_by is not None:
            return False
        return self.decided.decision in ACCEPTED if self.decided is not None else self.status == "baseline"

    @property
    def closed(self) -> bool:
        """Whether nothing of the round is left to do."""
        if self.decided is None:
            return False
        return self.decided.decision not in ACCEPTED or self.snapshot is not None

    @property
    def submitted(self) -> Mapping[str, events.CandidateSubmitted]:
        """Candidates of this round by name, without those that are only known by their records."""
        return {name: one.submitted for name, one in self.candidates.items() if one.submitted is not None}

    @property
    def gates(self) -> Mapping[str, events.GateJudged]:
        """Gate → its last word on the round's own candidate, in the order in which they were judged."""
        own = self.candidates.get(self.name)
        return {gate.gate: gate for gate in own.gates} if own is not None else {}

    @property
    def chosen(self) -> Candidate | None:
        """The candidate the decision rests on; without one the last measured, else the last submitted."""
        own = list(self.submitted) or list(self.candidates)
        named = self.decided.measured if self.decided is not None else ()
        for ids in (frozenset(named), None):
            for record in reversed(list(self.measured.values())):
                if record.candidate in own and (ids is None or record.id in ids):
                    return self.candidates[record.candidate]
        return self.candidates[own[-1]] if own else None

    @property
    def own_records(self) -> dict[str, events.Measured]:
        """Shape → the record that stands for this round's kernel."""
        return self.standing(self.chosen.name) if self.chosen is not None else {}

    def standing(self, name: str) -> dict[str, events.Measured]:
        """Return shape → the record that stands for a candidate in this round."""
        return standing(one for one in self.measured.values() if one.candidate == name)

    def attempts(self, candidate: str, gate: str) -> list[ChildRun]:
        """Return the runs of a gate on a candidate, in order."""
        return [run for run in self.runs.values() if run.started.candidate == candidate and run.started.gate == gate]

    def times(self, candidate: str) -> dict[str, list[float]]:
        """Return shape → medians of the round's records of a candidate, in seconds, in order of repeats."""
        found: dict[str, list[float]] = {}
        for record in self.measured.values():
            if record.candidate == candidate:
                found.setdefault(record.shape, []).append(record.median_s)
        return found

    def mean_s(self) -> float | None:
        """Return the geometric mean of its kernel's seconds over the shapes that were timed; None when none was."""
        times = [record.median_s for record in self.own_records.values() if record.median_s > 0]
        return geometric_mean(times) if times and all(map(math.isfinite, times)) else None


def standing(records: Iterable[events.Measured]) -> dict[str, events.Measured]:
    """Return shape → the record that stands for one kernel: of its repeats the (lower) median one."""
    repeats: dict[str, list[events.Measured]] = {}
    for record in records:
        repeats.setdefault(record.shape, []).append(record)
    return {shape: sorted(own, key=lambda one: one.median_s)[(len(own) - 1) // 2] for shape, own in repeats.items()}


@dataclass(frozen=True, slots=True)
class Bench:
    """A kernel measured outside any round: its event, when, and the records."""

    seq: int
    t: str
    started: setup.BenchStarted
    records: tuple[events.Measured, ...] = ()
