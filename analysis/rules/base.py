"""What a rule returns: a limiter with its evidence, or the counters it could not find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.table import BottleneckClass, class_of
from kopt_kb.base.wire import Wire

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding(Wire):
    """A limiter that a rule found.

    Attributes:
        code: The rule's code.
        limiter: Word of the closed table.
        evidence: Why.
    """

    code: str
    limiter: str
    evidence: tuple[Evidence, ...]

    WIRE: ClassVar = ("class=bottleneck", "limiter", "code", "evidence")

    @property
    def bottleneck(self) -> BottleneckClass:
        """Class of the limiter."""
        return class_of(self.limiter)
