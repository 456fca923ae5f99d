"""The event of the strange pack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Sha256, Text
from kopt_kb.workspace.journal.events import EventData

__all__ = ["Dreamt"]


@dataclass(frozen=True, slots=True)
class Dreamt(EventData):
    """An event with a blob."""

    kind: ClassVar[str] = "strange.dreamt"
    blobs: ClassVar[tuple[str, ...]] = ("text",)
    round: int
    of: Text
    text: Sha256 | None = None
