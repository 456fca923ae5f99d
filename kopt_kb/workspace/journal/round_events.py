"""Events of rounds: hypotheses, candidates, runs, measurements and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.wire import JsonMap, NonNegativeInt, Seq, Sha256, Text
from kopt_kb.launch.candidate.answers import Trust
from kopt_kb.launch.candidate.launcher_run import LauncherContent, LauncherTime, LauncherWord
from kopt_kb.workspace.journal.setup_events import EventData

__all__ = [
    "CandidateSubmitted",
    "Decided",
    "GateJudged",
    "HypothesisStated",
    "LauncherConfirmed",
    "Measured",
    "MemoryMasked",
    "MemoryUnmasked",
    "RoundStarted",
    "RunFinished",
    "RunStarted",
    "SnapshotTaken",
    "Trust",
]


@dataclass(frozen=True, slots=True)
class RoundStarted(EventData):
    """A round begins from the incumbent kernel's blob."""

    kind: ClassVar[str] = "round_started"
    round: NonNegativeInt
    incumbent: Sha256


@dataclass(frozen=True, slots=True)
class HypothesisStated(EventData):
    """What the round will try, said before the edit; `evidence` holds the events it rests on."""

    kind: ClassVar[str] = "hypothesis_stated"
    round: NonNegativeInt
    category: Text
    claim: Text
    expected: Text
    evidence: tuple[Seq, ...]
    proposer: Text


@dataclass(frozen=True, slots=True)
class CandidateSubmitted(EventData):
    """A kernel to be judged.

    Attributes:
        round: The round that submits it.
        candidate: Its name.
        blob: The kernel, or a project's bundle.
        params: What it was made with.
        proposer: Who proposed it.
        plan: Blob of the round's plan as it stood; null where there is none, or an earlier release did not keep it.
    """

    kind: ClassVar[str] = "candidate_submitted"
    round: NonNegativeInt
    candidate: Text
    blob: Sha256
    params: JsonMap
    proposer: Text
    plan: Sha256 | None = None


@dataclass(frozen=True, slots=True)
class RunStarted(EventData):
    """A child process was started for a gate.

    Attributes:
        run: Id of the run.
        candidate: Candidate it judges.
        gate: Gate it serves.
        attempt: 1 for the first try, one more after each run that was abandoned or found no GPU or tool.
        argv: Command line.
        limits: Limits by name, unit in each name.
        pid: Process id.
        pid_start_ticks: Start time the kernel reports for the process, so that a reused pid is not
            taken for it; null where it can't be read.
    """

    kind: ClassVar[str] = "run_started"
    run: Text
    candidate: Text
    gate: Text
    attempt: Seq
    argv: tuple[str, ...]
    limits: Mapping[str, float]
    pid: NonNegativeInt
    pid_start_ticks: NonNegativeInt | None


@dataclass(frozen=True, slots=True)
class RunFinished(EventData):
    """How a run ended.

    Attributes:
        run: Its id.
        outcome: The word.
        exit: Exit status; null after a signal, and where no process ended.
        signal: Signal that ended it.
        wall_s: Seconds that it took.
        output: Blob of what it printed and answered.
        records: Blobs of the launch records that the answer rests on; their code objects are blobs too.
    """

    kind: ClassVar[str] = "run_finished"
    run: Text
    outcome: Literal["ok", "crash", "hang", "oom", "limit", "lost"]
    exit: int | None
    signal: int | None
    wall_s: float
    output: Sha256 | None
    records: tuple[Sha256, ...] = ()


@dataclass(frozen=True, slots=True)
class GateJudged(EventData):
    """One gate's word on a candidate; unavailable is not a pass."""

    kind: ClassVar[str] = "gate_judged"
    candidate: Text
    gate: Text
    result: Literal["pass", "fail", "unavailable"]
    reason: str
    runs: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Measured(EventData):
    """One timing of one shape.

    Attributes:
        id: Record id, by which decisions and memory files refer to it.
        candidate: What was timed.
        shape: The shape as written on the command line.
        n: Number of samples.
        median_s: Median of the samples.
        spread: Spread by name, unit in each name (`mad_s`, `p20_s`, `p80_s`).
        run: Run that timed it.
        environment: Event of the environment it was timed in.
        trust: How far the time can be trusted: of a replayed launch record, of an isolated process, reported by the
            measured side itself; `unstated` where the record does not say.
    """

    kind: ClassVar[str] = "measured"
    id: Text
    candidate: Text
    shape: Text
    n: Seq
    median_s: float
    spread: Mapping[str, float]
    run: Text
    environment: Seq
    trust: Trust = "unstated"


@dataclass(frozen=True, slots=True)
class Decided(EventData):
    """A round's end: the decision, the policy and rule that took it, the records it rests on.

    Attributes:
        round: The round that ends.
        decision: The word.
        policy: Who decided.
        rule: By which rule.
        measured: Ids of the records it rests on.
        refutes: Accepted versions that this round was to confirm and did not: they are accepted no more.
        trust: The lowest level of what it rests on.
        launcher: Whether the version's own launcher was seen to do what its record does; empty: recorded before.
    """

    kind: ClassVar[str] = "decided"
    round: NonNegativeInt
    decision: Literal["accept", "accept_with_note", "rollback", "unverified"]
    policy: Text
    rule: Text
    measured: tuple[Text, ...]
    refutes: tuple[NonNegativeInt, ...] = ()
    trust: Trust = "unstated"
    launcher: LauncherWord = ""


@dataclass(frozen=True, slots=True)
class LauncherConfirmed(EventData):
    """A version's own launcher did once, caged, what its record does.

    Attributes:
        version: The version.
        outcome: `simulated`: on Triton's interpreter, its results alone.
        run: Run that saw it.
        device: Where.
        contents: Inputs that the judge drew, on shapes of the problem and new ones, whose results were compared.
        launches: Shape → launches counted.
        interval: Shape → what a call took, and between which seconds it had to lie.
    """

    kind: ClassVar[str] = "launcher_confirmed"
    version: NonNegativeInt
    outcome: Literal["confirmed", "simulated"]
    run: Text
    device: str
    contents: tuple[LauncherContent, ...]
    launches: Mapping[str, NonNegativeInt]
    interval: Mapping[str, LauncherTime]


@dataclass(frozen=True, slots=True)
class SnapshotTaken(EventData):
    """Version n of the kernel is this blob; `commit` is its git view, or null without git."""

    kind: ClassVar[str] = "snapshot_taken"
    version: NonNegativeInt
    blob: Sha256
    commit: str | None


@dataclass(frozen=True, slots=True)
class MemoryMasked(EventData):
    """Versions that no reader may see; `seed` is set when a partial restart chose them."""

    kind: ClassVar[str] = "memory_masked"
    versions: tuple[NonNegativeInt, ...]
    reason: Text
    seed: int | None


@dataclass(frozen=True, slots=True)
class MemoryUnmasked(EventData):
    """Versions that readers may see again."""

    kind: ClassVar[str] = "memory_unmasked"
    versions: tuple[NonNegativeInt, ...]
    reason: Text
    seed: int | None
