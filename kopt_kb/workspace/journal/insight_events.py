"""Events of what a campaign understands: where time goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.gap.document import Gap
from kopt_kb.base.wire import NonNegativeInt, Seq
from kopt_kb.workspace.journal.setup_events import EventData

__all__ = ["GapAccounted"]


@dataclass(frozen=True, slots=True)
class GapAccounted(EventData):
    """Where the time of an accepted version above the roof of one shape went.

    Attributes:
        version: The version that was accounted for.
        gap: The account; its name is the shape.
        profiles: Events of the profiles that it rests on; empty without any.
    """

    kind: ClassVar[str] = "gap_accounted"
    version: NonNegativeInt
    gap: Gap
    profiles: tuple[Seq, ...]
