"""How much a count may evaluate: memory lanes, and seconds."""

from __future__ import annotations

import time

from kopt_kb.analysis.ir.triton.model import IrError

__all__ = ["Budget"]


class Budget:
    """What is left for one count; `IrError` KB043 when it is spent.

    Args:
        lanes: Memory lanes that may be evaluated.
        seconds: Wall time from now; None: any.
        file: Of the IR, for messages.
    """

    def __init__(self, lanes: int, seconds: float | None, file: str) -> None:
        self._lanes, self._seconds, self._file = lanes, seconds, file
        self._until = None if seconds is None else time.monotonic() + seconds

    def spend(self, lanes: int) -> None:
        """Take evaluated lanes from what is left."""
        self._lanes -= lanes
        if self._lanes < 0:
            raise self._spent("would evaluate more memory lanes than max_lanes allows", "a larger max_lanes")

    def watch(self) -> None:
        """Refuse to go on behind the time limit."""
        if self._until is not None and time.monotonic() > self._until:
            raise self._spent(f"has not ended after {self._seconds:g} s", "more seconds")

    def _spent(self, what: str, more: str) -> IrError:
        return IrError(
            f"the count {what}", where=self._file, fix=f'use mode="shape", fewer programs, or {more}', code="KB043"
        )
