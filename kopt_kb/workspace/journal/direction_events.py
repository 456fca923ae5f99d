"""Events of where to go on: the category that was chosen and why, reviews after rollbacks, opportunities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.wire import NonNegativeInt, Seq, Text, Wire
from kopt_kb.workspace.journal.setup_events import EventData

__all__ = ["CategoryChosen", "Direction", "Opportunity", "OpportunityState", "ReviewHeld"]


@dataclass(frozen=True, slots=True)
class CategoryChosen(EventData):
    """Of which category the hypothesis of a round is, and why.

    Attributes:
        round: The round.
        category: Kind of change.
        limiter: Limiter that asks for it; empty when none does.
        row: `path:line` of the wiki's row that says so; empty when none does.
        reason: One sentence: what limits, what it rests on, what the table says.
    """

    kind: ClassVar[str] = "category_chosen"
    round: NonNegativeInt
    category: Text
    limiter: str
    row: str
    reason: Text


@dataclass(frozen=True, slots=True)
class Direction(Wire):
    """Where to go on: a category, what to do, and who says so."""

    category: str
    text: Text
    source: Text


@dataclass(frozen=True, slots=True)
class ReviewHeld(EventData):
    """Several rounds in a row were rolled back: what is looked at before the next hypothesis.

    Attributes:
        round: The round that comes next.
        versions: Rounds that were rolled back since the last review or accepted version.
        profile: Event of the profile of the best version; null without one.
        directions: Where to go on, at most three.
        references: Pages and files to read.
    """

    kind: ClassVar[str] = "review_held"
    round: NonNegativeInt
    versions: tuple[NonNegativeInt, ...]
    profile: Seq | None
    directions: tuple[Direction, ...]
    references: tuple[Text, ...]


OpportunityState = Literal["hypothesis", "dismissed", "closed", "infeasible", "untried", "unexplained"]
"""What became of an opportunity; a round that took it up says by its decision whether it is closed or dismissed."""


@dataclass(frozen=True, slots=True)
class Opportunity(EventData):
    """Something that could make a version faster, listed, taken up or dismissed.

    Attributes:
        id: Name, the same in all events of it: `v3:verdict:dram`, `v3:gap:8192x4096:tail`.
        version: The version it is about.
        text: What it is.
        categories: Kinds of change that would take it up.
        share_pct: Share of the time that it is at most worth; null when nobody knows.
        state: What became of it.
        round: The round that took it up; null while none did.
        reason: Why it is infeasible or dismissed; empty otherwise.
        evidence: Events that it rests on.
    """

    kind: ClassVar[str] = "opportunity"
    id: Text
    version: NonNegativeInt
    text: Text
    categories: tuple[Text, ...]
    share_pct: float | None
    state: OpportunityState
    round: NonNegativeInt | None
    reason: str
    evidence: tuple[Seq, ...]
