"""What a job answers, one type a kind; written and read by `base.wire`: nobody else knows the document."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kopt_kb.base.wire import JsonMap, Sha256, Wire, parse, plain, read
from kopt_kb.launch.candidate.launcher_run import LauncherRun
from kopt_kb.launch.candidate.machine import Environment
from kopt_kb.sandbox.isolation import Isolation

__all__ = [
    "LEVELS",
    "Answer",
    "AnswerBasis",
    "Check",
    "Contest",
    "Environment",
    "JudgedOutput",
    "KeptRun",
    "Outputs",
    "ReportEvidence",
    "Sample",
    "Search",
    "ShapeSearch",
    "Timing",
    "Trust",
    "Unable",
    "WatchedLaunches",
    "kept_run",
    "read_answer",
]

Trust = Literal["replayed", "isolated", "reported", "unstated"]
"""How far a measurement can be trusted, the highest first: of a recorded launch that the judge replayed; of a process
that was isolated, on the judge's inputs and clock; reported by the measured side itself; not said."""

LEVELS: tuple[Trust, ...] = ("unstated", "reported", "isolated", "replayed")
"""Levels of trust, the lowest first."""


@dataclass(frozen=True, slots=True)
class AnswerBasis(Wire):
    """On what an answer rests.

    Attributes:
        trust: How far it can be trusted.
        reason: Why no further; empty at the highest level.
        records: Side and shape, such as `candidate 8192x4096` → sha256 of the launch record.
        seconds: What was done → seconds of wall time.
        isolation: What the makers of the records were held by; None: no record was made.
        unkept: Side and shape → why the journal does not keep that record.
    """

    WIRE: ClassVar = ("trust", "reason", "records", "seconds", "isolation?", "unkept?=left_out")
    trust: Trust
    reason: str = ""
    records: Mapping[str, Sha256] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    isolation: Isolation | None = None
    unkept: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_cage(cls, held: Isolation, lacks: str) -> AnswerBasis:
        """Return on what a check rests whose candidate was held like this, with what is known to lack in the cage."""
        return cls("reported", f"the cage lacks {lacks}", isolation=held) if lacks else cls("isolated", isolation=held)

    @property
    def left_out(self) -> Mapping[str, str] | None:
        """Records that are not kept, if there are any."""
        return self.unkept or None

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read what is there: most answers keep all records."""
        return document


@dataclass(frozen=True, slots=True)
class Contest(Wire):
    """What a sequential test between the recorded launches of candidate and incumbent says.

    A gain is 100 × (incumbent time / candidate time − 1) of the geometric mean over the shapes.

    Attributes:
        verdict: `faster` by more than the threshold, `not_faster`, `undecided` after the last look, or `unavailable`
            where too much had to be dropped.
        threshold_pct: Gain that had to be beaten.
        gain_pct: The estimate; None without one.
        least_pct: Lower bound of the gain at the last look.
        most_pct: Upper bound.
        rounds: Quads of each shape.
        dropped: Quads that a clock probe or a throttle reason spoiled.
        reason: What else is to be said, such as why it is unavailable.
    """

    verdict: Literal["faster", "not_faster", "undecided", "unavailable"]
    threshold_pct: float
    gain_pct: float | None = None
    least_pct: float | None = None
    most_pct: float | None = None
    rounds: int = 0
    dropped: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unable(Wire):
    """A job that was not done: a tool that is missing there, no such job there, or device memory that ran out.

    `cut` says that it was ended with the budget of its call, which is nobody's fault.
    """

    WIRE: ClassVar = ("missing?", "unavailable?", "oom?", "cut?")
    missing: str | None = None
    unavailable: str | None = None
    oom: str | None = None
    cut: str | None = None

    @property
    def reason(self) -> str:
        """Why, whatever it was."""
        return self.missing or self.unavailable or self.oom or self.cut or ""


@dataclass(frozen=True, slots=True)
class JudgedOutput(Wire):
    """A result of a project's kernel that this program compared, and how it can be compared again.

    Attributes:
        shape: Problem shape as written.
        trial: Inputs, by the name that the operation gives them.
        part: 0, or 1 for the second run of a trial.
        seed: Of the inputs.
        device: Where they were drawn; empty: on a GPU where there was one, and then nowhere else.
        sha256: Of the result's bytes.
        extents: Of the result.
        dtype: Its storage type.
        rel_l2_err: Distance from the reference; None where there is none.
        content: The bytes in base64; empty: only the hash is kept.
    """

    shape: str
    trial: str
    part: int
    seed: int
    device: str
    sha256: Sha256
    extents: tuple[int, ...]
    dtype: str
    rel_l2_err: float | None
    content: str = ""


@dataclass(frozen=True, slots=True)
class Check(Wire):
    """Whether a candidate builds and is right.

    Attributes:
        build_error: Why it does not build; empty when it does.
        passed: Whether every result is within the tolerance.
        problem: What was wrong first.
        rel_l2_err: Largest ‖out - ref‖₂ / ‖ref‖₂ of all cases; None where nothing could be compared.
        rel_l2_err_by_shape: Shape → the largest of its seeds; None: the record does not say it by shape.
        checks: Cases compared.
        basis: On what it rests; None where an earlier release did not say.
        outputs: Results of a project that were compared here.
    """

    WIRE: ClassVar = (
        "build_error", "passed", "problem", "rel_l2_err", "rel_l2_err_by_shape?", "checks", "basis?",
        "outputs?=some_outputs",
    )  # fmt: skip
    build_error: str = ""
    passed: bool = False
    problem: str = ""
    rel_l2_err: float | None = None
    rel_l2_err_by_shape: Mapping[str, float] | None = None
    checks: int = 0
    basis: AnswerBasis | None = None
    outputs: tuple[JudgedOutput, ...] = ()

    @property
    def some_outputs(self) -> tuple[JudgedOutput, ...] | None:
        """Results that were compared, if there are any."""
        return self.outputs or None

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read answers of earlier releases, which call the norm a maximum and list it by case."""
        kept = {name: value for name, value in document.items() if name not in {*_OLD_ERRORS, "max_rel_errs"}}
        return kept | {new: document[old] for old, new in _OLD_ERRORS.items() if old in document}


_OLD_ERRORS = {"max_rel_err": "rel_l2_err", "max_rel_err_by_shape": "rel_l2_err_by_shape"}


@dataclass(frozen=True, slots=True)
class Sample(Wire):
    """Timed runs of one side on one shape in one repeat: how many, their median, how they spread, in seconds.

    `step_pct` is what one step of the last printed digit is, in percent of a time that was printed;
    `forward_s` is the forward pass's part of a whole step.
    """

    WIRE: ClassVar = ("n", "median_s", "mad_s?", "p20_s?", "p80_s?", "step_pct?", "forward_s?")
    n: int
    median_s: float
    mad_s: float | None = None
    p20_s: float | None = None
    p80_s: float | None = None
    step_pct: float | None = None
    forward_s: float | None = None

    @property
    def spread(self) -> dict[str, float]:
        """All that is known besides the median, by name."""
        named = {
            "mad_s": self.mad_s, "p20_s": self.p20_s, "p80_s": self.p80_s, "step_pct": self.step_pct,
            "forward_s": self.forward_s,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Timing(Wire):
    """Times of all sides, taken in turn.

    Attributes:
        shapes: Shape → side → one sample a repeat.
        problem: Why there are none; empty when there are.
        header: Header of the CSV that a project's benchmark wrote.
        contest: The verdict of a sequential test; None: none was made.
        basis: On what the times rest; None where an earlier release did not say.
    """

    WIRE: ClassVar = ("shapes", "problem?=told", "header?=columns", "contest?", "basis?")
    shapes: Mapping[str, Mapping[str, tuple[Sample, ...]]] = field(default_factory=dict)
    problem: str = ""
    header: tuple[str, ...] = ()
    contest: Contest | None = None
    basis: AnswerBasis | None = None

    @property
    def told(self) -> str | None:
        """The problem, if there is one."""
        return self.problem or None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The header, if there is one."""
        return self.header or None

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read what is there: a timing with a problem may have no shapes."""
        return document


@dataclass(frozen=True, slots=True)
class ShapeSearch(Wire):
    """The search of one shape's space.

    Attributes:
        config: Best configuration.
        median_s: Its time; None when nothing worked.
        space: Configurations there are.
        strategy: How they were chosen.
        evaluated: Configurations timed.
        failed: Of these, how many did not work.
        asked: Configurations the strategy gave; None where an earlier release did not count.
        pruned: Reason → configurations left out.
        unjudged: Configurations timed without a verdict of the pruner.
        pruning: `on`, or why nothing was pruned.
    """

    WIRE: ClassVar = (
        "config", "median_s", "asked?", "evaluated", "pruned?", "unjudged?", "failed", "pruning?", "space", "strategy",
    )  # fmt: skip
    config: JsonMap
    median_s: float | None
    space: int
    strategy: str
    evaluated: int
    failed: int
    asked: int | None = None
    pruned: Mapping[str, int] | None = None
    unjudged: int | None = None
    pruning: str | None = None


@dataclass(frozen=True, slots=True)
class Search(Wire):
    """Shape → what its search found."""

    WIRE: ClassVar = ("shapes", "basis?")
    shapes: Mapping[str, ShapeSearch]
    basis: AnswerBasis | None = None


@dataclass(frozen=True, slots=True)
class ReportEvidence(Wire):
    """A profiler's report, the shape it is of, the kernels that were asked for, and on what it rests.

    Attributes:
        csv: The report as text; empty where it is `packed`.
        packed: A report that is no text, in base64; None for text.
    """

    WIRE: ClassVar = ("csv", "shape", "kernels", "basis?", "packed?")
    csv: str
    shape: str
    kernels: tuple[str, ...] = ()
    basis: AnswerBasis | None = None
    packed: str | None = None

    @property
    def report(self) -> bytes:
        """The report's bytes."""
        return base64.b64decode(self.packed) if self.packed is not None else self.csv.encode()


@dataclass(frozen=True, slots=True)
class Outputs(Wire):
    """What the candidate's own process left: why it does not build, and place of a case → why it has no output."""

    build_error: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WatchedLaunches(Wire):
    """How often a candidate was launched for a profiler that watched."""

    launched: int


Answer = Environment | Check | Timing | Search | ReportEvidence | Outputs | WatchedLaunches | LauncherRun | Unable

_KINDS: Mapping[str, type[Answer]] = {
    "environment": Environment, "check": Check, "timing": Timing, "search": Search, "evidence": ReportEvidence,
    "outputs": Outputs, "launch": WatchedLaunches, "launcher": LauncherRun,
}  # fmt: skip


def read_answer(kind: str, document: object) -> Answer:
    """Return the answer to a job of a kind from its document.

    Raises:
        WireError: A member is missing, surplus or of the wrong kind.
    """
    if isinstance(document, Mapping):
        # The mark that earlier releases put on simulated answers: the machine says it.
        document = {name: value for name, value in document.items() if name != "simulated"}
        if kind not in _KINDS or document.keys() & {"missing", "unavailable", "oom", "cut"}:
            return read(Unable, document)
    return read(_KINDS.get(kind, Unable), document)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a run printed last and answered, as a journal's blob keeps it; no answer where it gave none."""

    printed: str = ""
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class _Kept(Wire):
    printed: str = ""
    result: JsonMap | None = None


def kept_run(kind: str, data: bytes) -> KeptRun:
    """Return what the blob of a finished run says.

    Args:
        kind: Kind of its job.
        data: The blob.

    Raises:
        WireError: It is none, or holds no answer to such a job.
    """
    kept = read(_Kept, parse(data), where="run")
    return KeptRun(kept.printed, read_answer(kind, plain(kept.result)) if kept.result else None)
