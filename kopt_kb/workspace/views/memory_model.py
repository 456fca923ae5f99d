"""The data model of one memory file, `memory/v<N>.json`; importing this module loads pydantic."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    model_serializer,
)

from kopt_kb.errors import BadInput

__all__ = [
    "SCHEMA_VERSION",
    "Direction",
    "Iteration",
    "MemoryFileError",
    "Pitfall",
    "Reference",
    "SearchEntry",
    "json_schema",
    "read_entry",
    "read_iteration",
    "schema_text",
]

SCHEMA_VERSION = 1
"""Raised whenever a field changes its meaning."""

T = TypeVar("T", bound=BaseModel)

Version = Annotated[str, StringConstraints(pattern=r"^v(0|[1-9][0-9]*)$")]
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
CommitHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{7,64}$")]
Words = Annotated[str, StringConstraints(min_length=1)]
Status = Literal["open", "baseline", "accept", "accept_with_note", "rollback", "unverified", "refuted"]
Outcome = Literal["PASS", "FAIL", "TIMEOUT_FAIL", "UNAVAILABLE"]


class MemoryFileError(BadInput):
    """A memory file or entry does not have the form of the schema; `where` is the file and field."""

    code = "KB313"


class _Model(BaseModel):
    """Base: exact types, no unknown fields, no NaN, frozen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Record(_Model):
    """One timing, copied from the `measured` event with this id."""

    id: Words
    shape: Words
    candidate: Words
    n: int = Field(ge=1)
    median_s: float
    spread: dict[str, float]
    run: Words
    environment: int = Field(ge=1, description="sequence number of the environment_recorded event")


class Comparison(_Model):
    """Change against the incumbent this attempt started from; positive latency is slower, positive rates are faster."""

    version: Version
    same_round: bool = Field(description="whether the incumbent was timed again in this round, interleaved")
    latency_change_pct: float | None
    throughput_change_pct: float | None


class Performance(_Model):
    """Numbers of this attempt's kernel; every one follows from `records`."""

    latency_us: float | None = Field(description="geomean over all shapes of the problem; null when one is unmeasured")
    latency_us_by_shape: dict[str, float]
    tflops: float | None = Field(description="geomean over shapes of useful operations / median")
    bandwidth_gbps: float | None = Field(description="geomean over shapes of compulsory bytes / median, 1e9 B/s")
    tflops_peak_utilization_pct: float | None = Field(description="geomean of the share of the documented roof")
    bandwidth_peak_utilization_pct: float | None = Field(description="geomean of the share of the documented roof")
    target_ratio: float | None = Field(description="geomean of achieved / target; at least 1 meets the aggregate")
    target_ratio_by_shape: dict[str, float]
    comparison_with_previous: Comparison | None
    records: list[Record]


class Optimization(_Model):
    """The one hypothesis of the attempt, as stated before the edit."""

    action_category: str
    action_description: str
    expected_impact: str
    proposer: str
    evidence: list[int] = Field(description="sequence numbers of the events it rests on")
    risks_and_rollback: list[str]


class Experiment(_Model):
    """One candidate of the attempt."""

    index: int = Field(ge=1)
    name: Words
    hypothesis: str
    change: str = Field(description="the candidate's parameters as JSON text")
    evidence: list[str] = Field(description="ids of its measurement records")
    result: Outcome
    decision: Literal["continue", "revert", "pivot", "open"]


class Experience(_Model):
    """All candidates of the attempt; several when it swept a tuning space."""

    experiment_count: int = Field(ge=0)
    recorded_experiment_count: int = Field(ge=0)
    experiments: list[Experiment]


class ProfileEvidence(_Model):
    """What a profiler's report said; the report is a blob."""

    tool_used: Words
    report: Sha
    kernel: Sha | None
    bottleneck_type: Words
    evidence_chain: list[dict[str, Any]]


class Gate(_Model):
    """One gate's word."""

    gate: Words
    result: Outcome
    reason: str
    runs: list[str]


class Correctness(_Model):
    """The correctness gate; rel_err is what its run reported, null when it reported none.

    `rel_err_by_shape` is left out of the file when it is empty: records from before it was reported keep their bytes.
    """

    status: Outcome
    rel_err: float | None
    reason: str
    rel_err_by_shape: dict[str, float] = Field(default={}, description="largest relative error of each shape")

    @model_serializer(mode="wrap")
    def _without_empty(self, standard: SerializerFunctionWrapHandler) -> dict[str, Any]:
        members: dict[str, Any] = standard(self)
        return members if self.rel_err_by_shape else {k: v for k, v in members.items() if k != "rel_err_by_shape"}


class QualityGate(_Model):
    """All gates together, in the order they judged."""

    result: Outcome
    failure_reason: str
    gates: list[Gate]


class IsaProgress(_Model):
    """One ISA target; current and met are null where no compiled code was scanned, or the target says nothing of it."""

    metric: Words
    target: Words
    current: float | None
    met: bool | None


class SearchEntry(_Model):
    """One search and what came of it."""

    source: Literal["campaign", "gpu-wiki", "ref-project", "public-web", "user-input", "note"]
    query: str = ""
    finding: Words
    actionability: str = ""


class Pitfall(_Model):
    """One thing that went wrong, or a value nobody publishes."""

    error_type: Literal["compilation", "runtime", "accuracy", "performance", "timeout", "unknown_spec", "note"]
    error_message: str = ""
    root_cause: str = ""
    fix_applied: str = ""
    lesson: Words


class Reference(_Model):
    """A text that was used."""

    source_type: Literal["gpu-wiki", "ref-project", "public-web", "user-input"]
    path_or_url: Words
    description: str = ""


class Direction(_Model):
    """What could be tried next, and why."""

    direction: Words
    rationale: str = ""


class Note(_Model):
    """A tip or a user's remark."""

    topic: Literal["tip", "user"]
    text: str
    by: Words


class WikiReferences(_Model):
    """Pages of the wiki that were used: knowledge, and hardware pages of registered rows."""

    kernel_wiki: list[str]
    hardware_wiki: list[str]


class Decision(_Model):
    """How the attempt ended and what the decision rests on."""

    decision: Literal["accept", "accept_with_note", "rollback", "unverified"]
    policy: Words
    rule: Words
    measured: list[str]
    t: Words


class Problem(_Model):
    """What was tuned, for whom and on which machine."""

    platform: Words
    op: Words
    dtype: Words
    shapes: list[str]
    device: str | None
    targets_event: int = Field(ge=0, description="sequence number of the target_set event in force; 0: none")


class Kernel(_Model):
    """The blobs of the attempt."""

    incumbent: Sha | None
    candidate: str | None
    blob: Sha | None
    params: dict[str, Any]


class Iteration(_Model):
    """One version's memory."""

    schema_version: Literal[1]
    version: Version
    round: Annotated[str, StringConstraints(pattern=r"^round-[1-9][0-9]*$")]
    masked: bool
    mask_reason: str
    status: Status
    simulated: bool = Field(description="times come from a made-up model: no share and no target is judged")
    timestamp: Words
    problem: Problem
    kernel: Kernel
    performance: Performance
    optimization: Optimization | None
    profile_evidence: list[ProfileEvidence]
    experience: Experience
    correctness: Correctness
    isa_metric_progress: list[IsaProgress]
    search_log: list[SearchEntry]
    pitfalls_and_fixes: list[Pitfall]
    references: list[Reference]
    notes: list[Note]
    quality_gate: QualityGate
    decision: Decision | None
    open_directions: list[Direction]
    wiki_references: WikiReferences
    git_commit_hash: CommitHash | None = Field(description="always text; null without a commit")

    @property
    def number(self) -> int:
        """The attempt's number."""
        return int(self.version[1:])


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a memory file, the rendered header included."""
    schema = Iteration.model_json_schema()
    schema["properties"] = {
        "_view": {"type": "object", "description": "header of the rendered file"},
        **schema["properties"],
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_text() -> str:
    """Return the schema as the file docs/schema/v_iteration.schema.json holds it."""
    return json.dumps(json_schema(), indent=2) + "\n"


def read_iteration(data: bytes, where: str) -> Iteration:
    """Return a memory file's content; raises `MemoryFileError` naming the first wrong field."""
    members = _object(data, where)
    members.pop("_view", None)
    return _validated(Iteration, members, where)


_ENTRIES: dict[str, type[_Model]] = {
    "search_log": SearchEntry,
    "pitfalls_and_fixes": Pitfall,
    "references": Reference,
    "open_directions": Direction,
}
_DEFAULTS: dict[str, tuple[str, dict[str, str]]] = {
    "search_log": ("finding", {"source": "note"}),
    "pitfalls_and_fixes": ("lesson", {"error_type": "note"}),
    "references": ("path_or_url", {"source_type": "user-input"}),
    "open_directions": ("direction", {}),
}


def read_entry(field: str, text: str) -> dict[str, Any] | str:
    """Return an entry of a free-text field: a JSON object of its form, or plain words for its main member.

    Raises:
        MemoryFileError: The JSON is broken, or a member is missing, unknown or not text.
    """
    if not text.strip():
        raise MemoryFileError("an entry can't be empty", where=field, fix="say something")
    if field == "risks_and_rollback":
        return text.strip()
    main, rest = _DEFAULTS[field]
    members = _object(text.encode("utf-8", "replace"), field) if text.lstrip().startswith("{") else None
    if members is None:
        members = {main: text.strip(), **rest}
    return _validated(_ENTRIES[field], members, field).model_dump()


def _object(data: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise MemoryFileError(f"is not JSON: {error}", where=where, fix="correct it or render it again") from error
    if not isinstance(found, dict):
        raise MemoryFileError("is not a JSON object", where=where, fix="correct it or render it again")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member stands twice")
    return dict(pairs)


def _validated(kind: type[T], members: dict[str, Any], where: str) -> T:
    try:
        return kind.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise MemoryFileError(
            f"field {place}: {first['msg'].lower()}", where=where, fix="docs/memory.md lists the fields"
        ) from error
