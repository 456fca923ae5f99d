"""One line of proof and the threshold it was compared with: plain documents, for rules, accounts and journals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["OPERATORS", "Evidence", "Threshold", "ThresholdFault"]

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
"""How a threshold compares."""


class ThresholdFault(BadInput):
    """A threshold page that breaks the grammar; names file and line."""

    code = "KB211"


@dataclass(frozen=True, slots=True)
class Threshold(Wire):
    """One row.

    Attributes:
        code: Code of the rule that reads it.
        metric: What is compared; a profile metric or a name that the rules derive.
        op: Comparison that makes the rule fire.
        value: Number compared with, in `unit`.
        unit: Unit of both.
        source: Document and locator, or `kopt-kb zoo: reason`.
        citation: `path:line` of the row.
    """

    code: str
    metric: str
    op: str
    value: float
    unit: str
    source: str
    citation: str

    def met(self, measured: float) -> bool:
        """Return whether a measured value makes the rule fire."""
        return OPERATORS[self.op](measured, self.value)


@dataclass(frozen=True, slots=True)
class Evidence(Wire):
    """One line of proof.

    Attributes:
        metric: Profile metric, or a value derived from several.
        value: What was measured, in `unit`.
        unit: Unit of value and threshold.
        threshold: The wiki row it was compared with, None for a fact that only explains.
        note: What the value says.
    """

    metric: str
    value: float
    unit: str
    threshold: Threshold | None = None
    note: str = ""

    def __str__(self) -> str:
        """`l1_sol_pct 93.2 % >= 60 % (counters/nvidia_thresholds.md:36)`."""
        text = f"{self.metric} {self.value:.4g}" + ("" if self.unit == "1" else f" {self.unit}")
        if self.threshold is not None:
            text += f" {self.threshold.op} {self.threshold.value:g} ({self.threshold.citation})"
        return f"{text}: {self.note}" if self.note else text
