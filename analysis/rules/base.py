"""What a rule returns: a limiter with its evidence, or the counters it could not find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.table import BottleneckClass, class_of
from kopt_kb.wire import Wire

__all__ = ["Finding", "Rule"]


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


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the ordered list.

    Attributes:
        code: Stable code, `BN-…`.
        limiters: What it can find.
        needs: Metrics without which it can't decide.
        find: The rule.
        summary: One sentence for `kb profile explain`.
        reads: Codes whose thresholds it reads besides its own.
    """

    code: str
    limiters: tuple[str, ...]
    needs: tuple[str, ...]
    find: Callable[[DerivedMetrics], Finding | None]
    summary: str
    reads: tuple[str, ...] = ()
