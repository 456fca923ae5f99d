"""The document of one memory file, `memory/v<N>.json`, and the entries that people add to it in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from kopt_kb.base.wire import JsonMap, Matches, NonNegativeInt, Seq, Sha256, Text, Wire
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.workspace.journal.round_events import Trust
from kopt_kb.workspace.rounds import Status

__all__ = [
    "Comparison",
    "Correctness",
    "Experience",
    "Experiment",
    "ExperimentEnd",
    "GateWord",
    "IsaProgress",
    "Iteration",
    "Kernel",
    "MemoryDecision",
    "MemoryDirection",
    "MemoryGate",
    "MemoryProblem",
    "MemoryRecord",
    "MemoryReference",
    "Note",
    "Optimization",
    "Performance",
    "Pitfall",
    "PitfallKind",
    "ProfileEvidence",
    "QualityGate",
    "SearchEntry",
    "WikiReferences",
]  # fmt: skip

Version = Annotated[str, Matches(r"^v(0|[1-9][0-9]*)$", "a version such as v3")]
RoundName = Annotated[str, Matches(r"^round-[1-9][0-9]*$", "a round such as round-4")]
CommitHash = Annotated[str, Matches(r"^[0-9a-f]{7,64}$", "a commit's hash")]
GateWord = Literal["PASS", "FAIL", "TIMEOUT_FAIL", "UNAVAILABLE"]
ExperimentEnd = Literal["continue", "revert", "pivot", "open"]
PitfallKind = Literal["compilation", "runtime", "accuracy", "performance", "timeout", "unknown_spec", "note"]


@dataclass(frozen=True, slots=True)
class MemoryRecord(Wire):
    """One timing, copied from the `measured` event with this id.

    Attributes:
        environment: sequence number of the environment_recorded event
        trust: how far the time can be trusted; left out where the event does not say
        source: whether the code comes from its source; likewise
    """

    WIRE: ClassVar = ("id", "shape", "candidate", "n", "median_s", "spread", "run", "environment", "trust?", "source?")
    id: Text
    shape: Text
    candidate: Text
    n: Seq
    median_s: float
    spread: Mapping[str, float]
    run: Text
    environment: Seq
    trust: Trust | None = None
    source: CodeSource | None = None


@dataclass(frozen=True, slots=True)
class Comparison(Wire):
    """Change against the incumbent this attempt started from; positive latency is slower, positive rates are faster.

    Attributes:
        same_round: whether the incumbent was timed again in this round, interleaved
        level: of a project, on what its times rest; left out of any other, whose decision says it
    """

    WIRE: ClassVar = ("version", "same_round", "latency_change_pct", "throughput_change_pct", "level?")
    version: Version
    same_round: bool
    latency_change_pct: float | None
    throughput_change_pct: float | None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Performance(Wire):
    """Numbers of this attempt's kernel; every one follows from `records`.

    Attributes:
        latency_us: geomean over all shapes of the problem; null when one is unmeasured
        tflops: geomean over shapes of useful operations / median
        bandwidth_gbps: geomean over shapes of compulsory bytes / median, 1e9 B/s
        tflops_peak_utilization_pct: geomean of the share of the documented roof
        bandwidth_peak_utilization_pct: geomean of the share of the documented roof
        target_ratio: geomean of achieved / target; at least 1 meets the aggregate
    """

    latency_us: float | None
    latency_us_by_shape: Mapping[str, float]
    tflops: float | None
    bandwidth_gbps: float | None
    tflops_peak_utilization_pct: float | None
    bandwidth_peak_utilization_pct: float | None
    target_ratio: float | None
    target_ratio_by_shape: Mapping[str, float]
    comparison_with_previous: Comparison | None
    records: tuple[MemoryRecord, ...]


@dataclass(frozen=True, slots=True)
class Optimization(Wire):
    """The one hypothesis of the attempt, as stated before the edit.

    Attributes:
        evidence: sequence numbers of the events it rests on
    """

    action_category: str
    action_description: str
    expected_impact: str
    proposer: str
    evidence: tuple[int, ...]
    risks_and_rollback: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Experiment(Wire):
    """One candidate of the attempt.

    Attributes:
        change: the candidate's parameters as JSON text
        evidence: ids of its measurement records
    """

    index: Seq
    name: Text
    hypothesis: str
    change: str
    evidence: tuple[str, ...]
    result: GateWord
    decision: ExperimentEnd


@dataclass(frozen=True, slots=True)
class Experience(Wire):
    """All candidates of the attempt; several when it swept a tuning space."""

    experiment_count: NonNegativeInt
    recorded_experiment_count: NonNegativeInt
    experiments: tuple[Experiment, ...]


@dataclass(frozen=True, slots=True)
class ProfileEvidence(Wire):
    """What a profiler's report said; the report is a blob."""

    tool_used: Text
    report: Sha256
    kernel: Sha256 | None
    bottleneck_type: Text
    evidence_chain: tuple[JsonMap, ...]


@dataclass(frozen=True, slots=True)
class MemoryGate(Wire):
    """One gate's word."""

    gate: Text
    result: GateWord
    reason: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Correctness(Wire):
    """The correctness gate.

    Attributes:
        rel_err: what its run reported, null when it reported none
        rel_err_by_shape: largest relative error of each shape; left out where no run reported it
    """

    WIRE: ClassVar = ("status", "rel_err", "reason", "rel_err_by_shape?")
    status: GateWord
    rel_err: float | None
    reason: str
    rel_err_by_shape: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class QualityGate(Wire):
    """All gates together, in the order they judged."""

    result: GateWord
    failure_reason: str
    gates: tuple[MemoryGate, ...]


@dataclass(frozen=True, slots=True)
class IsaProgress(Wire):
    """One ISA target; current and met are null where no compiled code was scanned, or the target says nothing of it."""

    metric: Text
    target: Text
    current: float | None
    met: bool | None


@dataclass(frozen=True, slots=True)
class SearchEntry(Wire):
    """One search and what came of it."""

    WIRE: ClassVar = ("source", "query", "finding", "actionability")
    source: Literal["campaign", "gpu-wiki", "ref-project", "public-web", "user-input", "note"]
    finding: Text
    query: str = ""
    actionability: str = ""


@dataclass(frozen=True, slots=True)
class Pitfall(Wire):
    """One thing that went wrong, or a value nobody publishes."""

    WIRE: ClassVar = ("error_type", "error_message", "root_cause", "fix_applied", "lesson")
    error_type: PitfallKind
    lesson: Text
    error_message: str = ""
    root_cause: str = ""
    fix_applied: str = ""


@dataclass(frozen=True, slots=True)
class MemoryReference(Wire):
    """A text that was used."""

    source_type: Literal["gpu-wiki", "ref-project", "public-web", "user-input"]
    path_or_url: Text
    description: str = ""


@dataclass(frozen=True, slots=True)
class MemoryDirection(Wire):
    """What could be tried next, and why."""

    direction: Text
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Note(Wire):
    """A tip or a user's remark."""

    topic: Literal["tip", "user"]
    text: str
    by: Text


@dataclass(frozen=True, slots=True)
class WikiReferences(Wire):
    """Pages of the wiki that were used: knowledge, and hardware pages of registered rows."""

    kernel_wiki: tuple[str, ...]
    hardware_wiki: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryDecision(Wire):
    """How the attempt ended and what the decision rests on.

    Attributes:
        trust: the lowest level of what it rests on; left out where the event does not say
        source: whether the candidate's code comes from its source; likewise
    """

    WIRE: ClassVar = ("decision", "policy", "rule", "measured", "t", "trust?", "source?")
    decision: Literal["accept", "accept_with_note", "rollback", "unverified"]
    policy: Text
    rule: Text
    measured: tuple[str, ...]
    t: Text
    trust: Trust | None = None
    source: CodeSource | None = None


@dataclass(frozen=True, slots=True)
class MemoryProblem(Wire):
    """What was tuned, for whom and on which machine.

    Attributes:
        targets_event: sequence number of the target_set event in force; 0: none
    """

    platform: Text
    op: Text
    dtype: Text
    shapes: tuple[str, ...]
    device: str | None
    targets_event: NonNegativeInt


@dataclass(frozen=True, slots=True)
class Kernel(Wire):
    """The blobs of the attempt."""

    incumbent: Sha256 | None
    candidate: str | None
    blob: Sha256 | None
    params: JsonMap


@dataclass(frozen=True, slots=True)
class Iteration(Wire):
    """One version's memory.

    Attributes:
        schema_version: raised whenever a field changes its meaning
        simulated: times come from a made-up model: no share and no target is judged
        git_commit_hash: always text; null without a commit
    """

    WIRE: ClassVar = (
        "_view?=header", "schema_version", "version", "round", "masked", "mask_reason", "status", "simulated",
        "timestamp", "problem", "kernel", "performance", "optimization", "profile_evidence", "experience",
        "correctness", "isa_metric_progress", "search_log", "pitfalls_and_fixes", "references", "notes",
        "quality_gate", "decision", "open_directions", "wiki_references", "git_commit_hash",
    )  # fmt: skip
    version: Version
    round: RoundName
    masked: bool
    mask_reason: str
    status: Status
    simulated: bool
    timestamp: Text
    problem: MemoryProblem
    kernel: Kernel
    performance: Performance
    optimization: Optimization | None
    profile_evidence: tuple[ProfileEvidence, ...]
    experience: Experience
    correctness: Correctness
    isa_metric_progress: tuple[IsaProgress, ...]
    search_log: tuple[SearchEntry, ...]
    pitfalls_and_fixes: tuple[Pitfall, ...]
    references: tuple[MemoryReference, ...]
    notes: tuple[Note, ...]
    quality_gate: QualityGate
    decision: MemoryDecision | None
    open_directions: tuple[MemoryDirection, ...]
    wiki_references: WikiReferences
    git_commit_hash: CommitHash | None
    schema_version: Literal[1] = 1

    @property
    def number(self) -> int:
        """The attempt's number."""
        return int(self.version[1:])

    @property
    def action(self) -> str:
        """What the attempt tried, as stated; empty where nothing was."""
        return self.optimization.action_description if self.optimization is not None else ""

    @property
    def header(self) -> JsonMap | None:
        """Header of the rendered file: whoever writes the file adds it, and reading drops it."""
        return None
