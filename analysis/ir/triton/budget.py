"""How much a count may evaluate: memory lanes, and seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kopt_kb.analysis.ir.triton.model import IrError

__all__ = ["CountBudget", "CountLimits"]


@dataclass(frozen=True, slots=True)
class CountLimits:
    """How much a count may evaluate.

    Attributes:
        lanes: Memory lanes that exact mode may evaluate.
        seconds: Wall time behind which either mode is refused; None: any.
    """

    lanes: int = 1 << 32
    seconds: float | None = None


class CountBudget:
    """What is left for one count; `IrError` KB043 when it is spent.

    Args:
        limits: What may be evaluated; seconds count from now.
        file: Of the IR, for messages.
    """

    def __init__(self, limits: CountLimits, file: str) -> None:
        self._lanes, self._seconds, self._file = limits.lanes, limits.seconds, file
        self._until = None if limits.seconds is None else time.monotonic() + limits.seconds

    def spend(self, lanes: int) -> None:
        """Take evaluated lanes from what is left."""
        self._lanes -= lanes
        if self._lanes < 0:
            raise self._spent("would evaluate more memory lanes than its limits allow")

    def watch(self) -> None:
        """Refuse to go on behind the time limit."""
        if self._until is not None and time.monotonic() > self._until:
            raise self._spent(f"has not ended after {self._seconds:g} s")

    def _spent(self, what: str) -> IrError:
        return IrError(
            f"the count {what}",
            where=self._file,
            fix='use mode="shape", fewer programs, or larger limits',
            code="KB043",
        )
