"""Events of a campaign as a whole: what was confirmed, read, proposed, frozen and chosen, and why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.wire import JsonMap, NonNegativeInt, Seq, Sha256, Text, Wire
from kopt_kb.workspace.journal.pack_events import PackWord
from kopt_kb.workspace.journal.setup_events import EventData

__all__ = [
    "Blocked",
    "CampaignConfirmed",
    "CampaignNamed",
    "CoreStopReason",
    "Invocation",
    "LevelChosen",
    "PlanMade",
    "ProjectFrozen",
    "ProjectProtected",
    "ProposalMade",
    "Resumed",
    "SearchSpace",
    "StopReason",
    "Stopped",
    "TipsRead",
]

CoreStopReason = Literal[
    "target", "hardware_limit", "iterations", "budget", "user", "plateau", "exhausted", "escalated", "aborted"
]
StopReason = CoreStopReason | PackWord
"""Why a campaign ends: the core's reasons, and those of packs as `pack.word`."""


@dataclass(frozen=True, slots=True)
class Invocation(Wire):
    """Of a command line: what asks for hypotheses and runs candidates, to ask and run the same again.

    `no_package`: no kernel of the package's own is proposed.
    """

    WIRE: ClassVar = ("proposers", "executor_command", "device", "no_package?")
    proposers: tuple[str, ...]
    executor_command: str
    device: str
    no_package: bool | None = None


@dataclass(frozen=True, slots=True)
class CampaignConfirmed(EventData):
    """A campaign begins, or goes on after a stop, under what was asked for.

    Attributes:
        policy: The policy's own fields.
        simulated: Whether times are computed by the simulator.
        executor: Name of what runs candidates.
        proposers: Names of who is asked, in order.
        settings: Sizes of measurements, unit in each name.
        launch: What a later start needs to ask and run the same again; null when nobody said.
    """

    kind: ClassVar[str] = "campaign_confirmed"
    policy: JsonMap
    simulated: bool
    executor: str
    proposers: tuple[str, ...]
    settings: JsonMap
    launch: Invocation | None = None


@dataclass(frozen=True, slots=True)
class CampaignNamed(EventData):
    """Names and places of a campaign that keeps a manifest.

    Attributes:
        name: `<operation>_<backend>_<target>_<date>_<mark>`.
        op: Operation with its precision.
        backend: Backend of the kernel.
        language: What it is written in.
        mode: `repo`, or `workspace`: what is worked on is shown beside the journal.
        git_commit: Whether accepted versions become commits of the project's repository.
        git_branch: Branch of these; empty: none.
        upstream: Commit of the project that the campaign began at; empty: it lies in no repository.
        files: In mode workspace, path below the workspace → blob of what was taken from the project.
        tips: File of earlier experience, read before the baseline and added to after rounds.
        constraints: What candidates may not do, in words.
        project_skill: Document that describes the project.
    """

    kind: ClassVar[str] = "campaign_named"
    name: Text
    op: Text
    backend: Text
    language: Text
    mode: Literal["repo", "workspace"]
    git_commit: bool
    git_branch: str
    upstream: str
    files: Mapping[str, Sha256]
    tips: str
    constraints: tuple[Text, ...]
    project_skill: str


@dataclass(frozen=True, slots=True)
class PlanMade(EventData):
    """The order of steps that a campaign tries: made of an analysis, whose file `source` names."""

    kind: ClassVar[str] = "plan_made"
    source: Text
    plan: JsonMap


@dataclass(frozen=True, slots=True)
class TipsRead(EventData):
    """Earlier experience, which guides and proves nothing; `source` is null where there was none to read."""

    kind: ClassVar[str] = "tips_read"
    source: str | None
    text: str


@dataclass(frozen=True, slots=True)
class SearchSpace(Wire):
    """Values laid over a configuration, and the values that a search tries for each knob."""

    start: JsonMap
    knobs: JsonMap


@dataclass(frozen=True, slots=True)
class ProposalMade(EventData):
    """What a proposer suggested for a round.

    Attributes:
        round: The round it is for.
        category: Kind of change.
        claim: What it claims.
        expected: What it expects to see.
        proposer: Who says so.
        source: Blob of the kernel or bundle that carries the change.
        spaces: Shape → what a search tries; empty: nothing to search.
        risk: `high` asks for validation on all shapes; empty: nothing was said.
        confirms: Versions accepted on representative shapes that the round validates on all.
    """

    kind: ClassVar[str] = "proposal_made"
    round: NonNegativeInt
    category: Text
    claim: Text
    expected: str
    proposer: Text
    source: Sha256
    spaces: Mapping[str, SearchSpace]
    risk: str = ""
    confirms: tuple[NonNegativeInt, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectProtected(EventData):
    """Of a project, before its baseline: path → hash of every file that no candidate may change."""

    kind: ClassVar[str] = "project_protected"
    root: Text
    protected: Mapping[str, Sha256]


@dataclass(frozen=True, slots=True)
class ProjectFrozen(EventData):
    """Of a project, after its baseline: the header of its CSV and the shapes of quick validation."""

    kind: ClassVar[str] = "project_frozen"
    header: tuple[str, ...]
    representative: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LevelChosen(EventData):
    """On which shapes a round of a project is decided, and why."""

    kind: ClassVar[str] = "level_chosen"
    round: NonNegativeInt
    level: Literal["quick", "full"]
    reason: str


@dataclass(frozen=True, slots=True)
class Resumed(EventData):
    """The journal was opened after an unclean end: bytes cut off, runs nobody waits for any more."""

    kind: ClassVar[str] = "resumed"
    torn_bytes: NonNegativeInt
    abandoned_runs: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Blocked(EventData):
    """The campaign can't go on before these needs are met."""

    kind: ClassVar[str] = "blocked"
    needs: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Stopped(EventData):
    """The campaign ended; `evidence` holds the events the reason rests on."""

    kind: ClassVar[str] = "stopped"
    reason: StopReason
    evidence: tuple[Seq, ...]
