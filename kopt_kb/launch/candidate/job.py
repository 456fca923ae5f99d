"""What a child process is asked to do with a candidate, and how that ended: plain data for any executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.launch.candidate.answers import Answer, Trust
from kopt_kb.launch.candidate.launcher_run import ExpectedRun
from kopt_kb.launch.record.source import CodeBound
from kopt_kb.problem.ops import OPS
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.sandbox.process import Started

__all__ = [
    "Ending",
    "Executor",
    "Job",
    "JobKind",
    "Outcome",
    "PruningRules",
    "Request",
    "RunLimits",
    "SpaceAsked",
    "Started",
    "problem_of",
]

JobKind = Literal["environment", "check", "timing", "search", "limits", "evidence", "launcher"]
Ending = Literal["ok", "crash", "hang", "oom", "limit", "lost"]


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one child: wall time in seconds, resident host memory in bytes (0: none)."""

    wall_s: float = 300.0
    resident_bytes: int = 0


@dataclass(frozen=True, slots=True)
class PruningRules(Wire):
    """By what a search leaves out configurations: target and sourced limits, or why they are not known.

    Attributes:
        target: Public target name.
        limits: What an SM of it offers; None where they are not known.
        unavailable: Why nothing can be pruned; empty when it can.
        seconds: Seconds that compiling ahead may take.
    """

    target: str = ""
    limits: Limits | None = None
    unavailable: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SpaceAsked(Wire):
    """One shape's space.

    Attributes:
        start: Values over which those of the knobs are laid.
        knobs: Knob → values to try.
        keep: The configuration it has now.
        floor_s: Seconds at which the search may end, since the machine was never seen to be faster; None: not known.
        floor: What took so long.
    """

    start: JsonMap
    knobs: JsonMap
    keep: JsonMap | None = None
    floor_s: float | None = None
    floor: str = ""


@dataclass(frozen=True, slots=True)
class Request(Wire):
    """What a job works on besides its sources; each kind reads the members it needs.

    Attributes:
        op: Operation id.
        shapes: Shapes as written.
        dtype: Storage type.
        tolerance: How far results may be off; None: the job judges none.
        seeds: Seeds of inputs.
        trials: Names of the inputs that a check tries besides those drawn, as the operation declares them; None: no
            others.
        repeats: Medians a timing takes of each shape.
        samples: Timed runs of each.
        flush_bytes: Bytes written before each timed run; 0: twice the device's own L2.
        evaluations: Most configurations a search times on one shape.
        seconds: Seconds of a search.
        seed: Seed of a search.
        device: Where candidates run; empty: where the executor says, else on the GPU.
        level: Scope of validation.
        spaces: Shape → what a search tries.
        pruning: Rules by which the search leaves configurations out; None: nobody asked.
        out_shapes: Shape → extents of the output the candidate's process has to leave; none of several results.
        amounts: Shape → pass → work, to turn a project's rates into times.
        header: Header that a project's CSV has to have; empty: any.
        protected: File of a project → its hash.
        threshold_pct: Gain in percent that a contest has to show.
        expected: Shape → what its record does, for a run of the launcher.
        foresees_launcher: Whether the candidate's own launcher may be run next: its records on new shapes are begun.
        probe: Whether it is to be shown that a project's commands use the copy.
    """

    op: str = ""
    shapes: tuple[str, ...] = ()
    dtype: str = ""
    tolerance: Tolerance | None = None
    seeds: tuple[int, ...] = ()
    repeats: int = 1
    samples: int = 1
    flush_bytes: int = 0
    evaluations: int = 1
    seconds: float = 0.0
    seed: int = 0
    device: str = ""
    level: Literal["quick", "full"] = "full"
    spaces: Mapping[str, SpaceAsked] = field(default_factory=dict)
    pruning: PruningRules | None = None
    out_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    amounts: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    protected: Mapping[str, str] = field(default_factory=dict)
    probe: bool | None = None
    trials: tuple[str, ...] | None = None
    threshold_pct: float = 0.0
    expected: Mapping[str, ExpectedRun] = field(default_factory=dict)
    foresees_launcher: bool = False

    WIRE: ClassVar = (
        "op", "shapes", "dtype", "tolerance?", "seeds", "repeats", "samples", "flush_bytes", "evaluations", "seconds",
        "seed", "device", "spaces", "pruning?", "out_shapes", "trials?", "expected",
    )  # fmt: skip

    @property
    def is_quick(self) -> bool:
        """Whether only the representative shapes are validated."""
        return self.level == "quick"


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work on a candidate.

    Attributes:
        kind: What to do.
        candidate: CodeSource of the candidate; empty for `environment`.
        incumbent: CodeSource it is compared with; empty when there is none.
        body: Shapes, dtype, tolerance, seeds, repeats and such.
        limits: Limits of the child.
        reference: File whose `make_inputs` and `reference` judge; empty: the candidate's own, which proves less.
        best: CodeSource that is timed as a third side, in turn with both; empty when there is none.
    """

    kind: JobKind
    candidate: bytes = b""
    incumbent: bytes = b""
    body: Request = Request()
    limits: RunLimits = RunLimits()
    reference: bytes = b""
    best: bytes = b""


def problem_of(job: Job) -> bytes:
    """Return a job's reference file where that says how candidates are called: its problem is in no list."""
    return b"" if job.body.op in OPS else job.reference


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended.

    Attributes:
        outcome: The journal's word; only `ok` carries a whole result.
        exit: Exit status, None after a signal.
        signal: Signal that ended it.
        wall_s: Seconds it took.
        printed: What it printed to stdout and stderr, its end if it was long.
        result: What it answered through its own channel; of a check that ended in its test, what was known by then.
        records: sha256 of each launch record that the answer rests on → its bytes, then those of its code objects.
        codes: Code objects of those records that were made again from their source.
    """

    outcome: Ending
    exit: int | None
    signal: int | None
    wall_s: float
    printed: str = ""
    result: Answer | None = None
    records: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    codes: tuple[CodeBound, ...] = ()


class Executor(Protocol):
    """Runs jobs somewhere."""

    @property
    def name(self) -> str:
        """How records name it."""

    @property
    def simulated(self) -> bool:
        """Whether its times are computed and not measured."""

    @property
    def trust(self) -> Trust:
        """How far its answers can be trusted that do not say it themselves."""

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended, after `started` was called once."""

    def close(self) -> None:
        """End what it keeps between jobs."""
