"""What a proposer sees and says: one hypothesis, the source to try it on, and the knobs to search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from kopt_kb.base.errors import FindingError
from kopt_kb.base.wire import JsonMap, Text, Wire, inside
from kopt_kb.problem.ops.definition import OptionValue
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.known import ProposerKnowledge
from kopt_kb.tuning.versions import gain_pct
from kopt_kb.workspace.journal.campaign_events import ProposalMade, SearchSpace
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = [
    "EvidenceAsked",
    "ProjectFiles",
    "Proposal",
    "Proposer",
    "ProposerAnswer",
    "ProposerState",
    "ProposerView",
    "RepeatedHypothesisError",
    "ShownFiles",
    "Tried",
    "view_of",
]


class RepeatedHypothesisError(FindingError):
    """A hypothesis equals an earlier one that is not masked."""

    code = "KB402"


@dataclass(frozen=True, slots=True)
class ShownFiles(Wire):
    """The incumbent's files as outside proposers get them; only a project has more than the kernel's text.

    Attributes:
        kernel: Text of the kernel source.
        kernel_source: Its path in the project.
        files: Path → text of every editable file.
        editable: Patterns of the files that may be changed.
        protected: Patterns of those that may not.
    """

    WIRE: ClassVar = ("kernel", "kernel_source?", "files?", "editable?", "protected?")
    kernel: str
    kernel_source: str | None = None
    files: Mapping[str, str] | None = None
    editable: tuple[str, ...] | None = None
    protected: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ProposerAnswer(Wire):
    """What an outside proposer answers; one of source, patch and files is given, the others are empty.

    Attributes:
        category: Kind of change.
        claim: What changes and why it may help.
        expected: What should be seen if it holds.
        source: The whole kernel source.
        patch: A unified diff.
        files: Path → text, for a project.
        risk: How far it reaches; empty: nothing was said.
    """

    category: Text
    claim: Text
    expected: Text
    source: Text = ""
    patch: Text = ""
    files: Mapping[str, str] = field(default_factory=dict)
    risk: Literal["", "low", "medium", "high"] = ""


@dataclass(frozen=True, slots=True)
class EvidenceAsked(Wire):
    """What a proposer answers that wants a profile of the best version first; it is asked again with the verdict.

    Attributes:
        ask: What is wanted.
        shape: On which shape; empty: the largest.
    """

    ask: Literal["evidence"]
    shape: Text = ""


class ProjectFiles(Protocol):
    """A project's editable files as proposers see and change them."""

    def shown(self, incumbent: bytes) -> ShownFiles:
        """Return what outside proposers see of the incumbent's files."""

    def candidate(self, incumbent: bytes, answer: ProposerAnswer, name: str) -> bytes:
        """Return the candidate that an answer's `source`, `files` or `patch` makes of the incumbent."""


@dataclass(frozen=True, slots=True)
class Tried(Wire):
    """A decided round as proposers see it.

    Attributes:
        decision: `refuted` for an accepted one taken back.
        rule: By which rule.
        reason: Why it was refused: what the gate that failed said; empty where none did.
        gain_pct: Against its incumbent, timed in the same run; None where it was not timed.
        expected: What it expected to see.
        proposer: Who said it.
    """

    round: int
    category: str
    claim: str
    decision: str
    rule: str
    reason: str = ""
    gain_pct: float | None = None
    expected: str = ""
    proposer: str = ""

    def says(self, category: str, claim: str) -> bool:
        """Return whether the round said this: case and spaces do not matter."""
        return (_plain(self.category), _plain(self.claim)) == (_plain(category), _plain(claim))


@dataclass(frozen=True, slots=True)
class ProposerState(Wire):
    """What outside proposers get: a view as one document.

    Attributes:
        shown: The incumbent's files.
        limiter: Class and limiter of the profile in force; null without one.
        avoid: Categories that stagnated.
        tips: Earlier experience; null without any.
        known: Verdict, gaps, counts, roofs, limits, categories, pages, ledger.
        step: Of a plan: the recommendation that is to be tried now.
        options: Options of the operation that are judged and counted; a candidate computes these.
    """

    WIRE: ClassVar = (
        "op", "shapes", "dtype", "target", "bound", "limiter", "round", *inside("shown", ShownFiles), "tried",
        "avoid_categories=avoid", "framework", "stage", "tips", *inside("known", ProposerKnowledge), "step?",
        "options",
    )  # fmt: skip
    op: str
    shapes: tuple[str, ...]
    dtype: str
    target: str
    bound: str
    limiter: str | None
    round: int
    shown: ShownFiles
    tried: tuple[Tried, ...]
    avoid: frozenset[str]
    framework: str
    stage: Literal["implement", "optimize"]
    tips: str | None
    known: ProposerKnowledge
    step: str | None = None
    options: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProposerView:
    """What proposers may know: masked rounds are not in it.

    Attributes:
        op: Operation id.
        shapes: All shapes of the problem, as written.
        dtype: Storage type.
        target: Public target name of the platform.
        bound: The limiting roof of the targets in force.
        limiter: Code of the last profile read; empty without one.
        round: Number of the round to come.
        incumbent: Source of the last accepted version.
        tried: Decided rounds.
        avoid: Categories that stagnated; choose another one.
        project: The project whose files a candidate is made of; None: a candidate is one kernel file.
        framework: Language the kernel has to be in.
        stage: `implement` before there is a kernel (the incumbent is PyTorch logic), else `optimize`.
        tips: Earlier experience as it was read: guidance, no evidence; empty without any.
        ends_at: Moment of `time.monotonic` by which an answer is of use.
        known: Verdict, gaps, counts, roofs, limits, categories and pages.
        step: Of a plan: the recommendation that the hypothesis is for; empty without a plan.
        options: Options of the operation that are judged and counted; a candidate computes these.
        configurations: Launched kernel → what each of its own configurations sets, where a run made them.
        is_listed: Whether the operation is one of the package's; a user's own may share its name and nothing else.
    """

    op: str
    shapes: tuple[str, ...]
    dtype: str
    target: str
    bound: str
    limiter: str
    round: int
    incumbent: bytes
    tried: tuple[Tried, ...] = ()
    avoid: frozenset[str] = frozenset()
    framework: str = ""
    stage: Literal["implement", "optimize"] = "optimize"
    project: ProjectFiles | None = None
    tips: str = ""
    ends_at: float = math.inf
    known: ProposerKnowledge = field(default_factory=ProposerKnowledge)
    step: str = ""
    options: tuple[tuple[str, OptionValue], ...] = ()
    configurations: Mapping[str, Sequence[Mapping[str, bool | int | float | str]]] = field(default_factory=dict)
    is_listed: bool = True

    def earlier(self, category: str, claim: str) -> int | None:
        """Return the number of the round that tried this already."""
        return next((earlier.round for earlier in self.tried if earlier.says(category, claim)), None)

    @property
    def shown(self) -> ShownFiles:
        """The incumbent's files, as outside commands get them."""
        return ShownFiles(self.incumbent.decode()) if self.project is None else self.project.shown(self.incumbent)

    @property
    def document(self) -> ProposerState:
        """The state as outside proposers get it."""
        return ProposerState(
            self.op, self.shapes, self.dtype, self.target, self.bound, self.limiter or None, self.round, self.shown,
            self.tried, self.avoid, self.framework, self.stage, self.tips or None, self.known,
            self.step or None, dict(self.options),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Proposal:
    """One hypothesis.

    Attributes:
        category: Kind of change.
        claim: What changes and why it may help.
        expected: What should be seen if it holds.
        proposer: Who says so.
        source: Kernel file that carries the change.
        spaces: Shape → (values laid over the start, knob → values to search); empty: nothing to search.
        risk: `high` asks for validation on all shapes; empty: nothing was said.
        confirms: Rounds accepted on representative shapes that this one validates on all.
    """

    category: str
    claim: str
    expected: str
    proposer: str
    source: bytes
    spaces: Mapping[str, tuple[Mapping[str, object], Mapping[str, Sequence[object]]]] = field(default_factory=dict)
    risk: str = ""
    confirms: tuple[int, ...] = ()

    def made(self, number: int, blob: str) -> ProposalMade:
        """Return the event that keeps the proposal for a round; `blob` names its source."""
        spaces = {
            shape: SearchSpace(dict(start), {name: list(values) for name, values in knobs.items()})
            for shape, (start, knobs) in self.spaces.items()
        }
        said = (self.category, self.claim, self.expected, self.proposer)
        return ProposalMade(number, *said, blob, spaces, self.risk, self.confirms)


class Proposer(Protocol):
    """Suggests what to try next."""

    @property
    def name(self) -> str:
        """How records name it."""

    def propose(self, view: ProposerView) -> Proposal | EvidenceAsked | None:
        """Return one hypothesis that was not tried, or None when there is none left; the same view gives the same."""


def view_of(state: WorkspaceState, incumbent: bytes, avoid: frozenset[str] = frozenset()) -> ProposerView:
    """Return what proposers may know of a state."""
    shown = (round_ for round_ in state.rounds if round_.number not in state.masked)
    tried = tuple(one for round_ in shown if (one := _tried(round_)) is not None)
    return ProposerView(
        op=state.problem.op,
        options=state.problem.options,
        shapes=tuple(format_shape(shape) for shape in state.problem.shapes),
        dtype=state.problem.dtype,
        target=state.task.target,
        bound=state.targets.bound if state.targets is not None else "unknown",
        limiter=state.limiter,
        round=state.rounds[-1].number + 1 if state.rounds else 0,
        incumbent=incumbent,
        tried=tried,
        avoid=avoid,
        framework=state.task.framework,
        stage="implement" if state.route == "pytorch" and state.baseline is None else "optimize",
        tips=state.tips.text if state.tips is not None else "",
        configurations=(state.problem.own.configurations or {}) if state.problem.own is not None else {},
        is_listed=state.problem.own is None,
    )


def _tried(round_: Round) -> Tried | None:
    """Return a decided round as proposers see it; None for one that stated nothing or is open."""
    stated, decided = round_.hypothesis, round_.decided
    if stated is None or decided is None:
        return None
    decision = "refuted" if round_.refuted_by is not None else decided.decision
    reason = next((gate.reason for gate in round_.gates.values() if gate.result == "fail"), "")
    own = (stated.category, stated.claim, decision, decided.rule)
    return Tried(round_.number, *own, reason, gain_pct(round_), stated.expected, stated.proposer)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
