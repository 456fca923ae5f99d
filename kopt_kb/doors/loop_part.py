"""The door `LoopPart`: policies, proposers, gates, views and stop reasons that a pack adds to the tuning loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kopt_kb.doors.proposer_source import ProposerSource
    from kopt_kb.doors.view import View, ViewSection
    from kopt_kb.tuning.decision import GateResult
    from kopt_kb.tuning.gates import GateContext
    from kopt_kb.tuning.policy import Policy
    from kopt_kb.workspace.journal.blobs import BlobReader
    from kopt_kb.workspace.rounds import Round
    from kopt_kb.workspace.state import WorkspaceState

__all__ = ["GainCheck", "GainTip", "LoopPart", "PackGate", "StopRule"]


@dataclass(frozen=True, slots=True)
class GainTip:
    """What the tip of a decided round says of its gain.

    Attributes:
        refused: Why nobody may try it again; empty: anybody may.
        words: What to say of it; empty: the gain as it was measured.
    """

    refused: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class GainCheck:
    """What a gate's pack says of gains in reports and tips of campaigns whose policy requires the gate.

    Attributes:
        unpublished: Returns why a report of the campaign can't be published; nothing: it can.
        tip: Returns what the tip of a decided round says of its gain; None: nothing else than what was measured.
        kept_tips: Returns a text of tips without the lines that the gate would refuse.
    """

    unpublished: Callable[[WorkspaceState, BlobReader], tuple[str, ...]]
    tip: Callable[[WorkspaceState, Round, BlobReader], GainTip | None]
    kept_tips: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class PackGate:
    """A gate that a policy may require besides the core's; policies and journals call it `pack.name`.

    Attributes:
        name: Without the pack.
        what: What it holds a candidate to, in a reader's words.
        after: Gate of the core after which it is judged.
        judge: Returns its word and the runs it rests on.
        untimed: Functions of a kernel file that it calls and nobody times, so that the lint leaves them out.
        judges_caches: Whether it judges caches by a tensor's identity, so that the lint leaves them to it.
        gains: What it says of gains afterwards; None: nothing.
    """

    name: str
    what: str
    after: str
    judge: Callable[[GateContext], tuple[GateResult, tuple[str, ...]]]
    untimed: tuple[str, ...] = ()
    judges_caches: bool = False
    gains: GainCheck | None = None


@dataclass(frozen=True, slots=True)
class StopRule:
    """A reason for which a policy may end campaigns besides the core's; policies and journals call it `pack.name`.

    Attributes:
        name: Without the pack.
        what: What it means, in a sentence.
        due: Returns the events on which the end rests; nothing: the campaign goes on. Asked between rounds.
    """

    name: str
    what: str
    due: Callable[[WorkspaceState, Policy], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class LoopPart:
    """What a pack adds to the loop.

    Attributes:
        name: Stable name.
        what: The same in a reader's words, for messages.
        policies: Name, as `--policy` takes it → returns the policy.
        stop_reasons: Reasons to end a campaign; a policy enables them.
        gates: Gates that a policy may require besides the core's.
        proposers: Who is asked for hypotheses besides the core's own.
        views: Files that are rendered from a journal besides the README.
        sections: Lines for named places in rendered files.
        reports: Form, as `kb tune report --form` takes it → returns a report in it, as Markdown; raises `LookupError`
            where there is nothing to report yet.
    """

    name: str
    what: str
    policies: Mapping[str, Callable[[], Policy]] = field(default_factory=dict)
    stop_reasons: tuple[StopRule, ...] = ()
    gates: tuple[PackGate, ...] = ()
    proposers: tuple[ProposerSource, ...] = ()
    views: tuple[View, ...] = ()
    sections: tuple[ViewSection, ...] = ()
    reports: Mapping[str, Callable[[WorkspaceState], str]] = field(default_factory=dict)
