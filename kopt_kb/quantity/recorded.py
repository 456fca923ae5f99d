"""Quantities as documents hold them: numbers in print and in SI, without the rows they came from.

A recorded quantity is no `Quantity`: its origin is text. The wiki makes one again by reading the cited row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kopt_kb.base.wire import Text, Wire
from kopt_kb.quantity import Grade

__all__ = ["RecordedQuantity", "RecordedUnknown"]


@dataclass(frozen=True, slots=True)
class RecordedQuantity(Wire):
    """A quantity that was written.

    Attributes:
        value: The printed number, in `unit`.
        si_value: The number in `si_unit`; an integer where it is one.
        grades: Grades of the rows it rests on.
        citations: These rows, as citations in text.
    """

    value: float
    unit: Text
    si_value: int | float
    si_unit: Text
    grades: tuple[Grade, ...]
    citations: tuple[Text, ...]

    @property
    def si(self) -> Fraction:
        """The recorded SI value, exactly as it was written."""
        return Fraction(self.si_value)


@dataclass(frozen=True, slots=True)
class RecordedUnknown(Wire):
    """A value that nobody published when it was written."""

    value: None
    state: Literal["UNKNOWN"]
    needs: tuple[Text, ...]
    reason: str
