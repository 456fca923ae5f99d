"""What is known of a call whose launcher has no reference besides itself: plain data, without torch."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.problem.table import ProblemTable

__all__ = ["CalledTable"]


@dataclass(frozen=True, slots=True)
class CalledTable(Wire):
    """One call of a launcher.

    Attributes:
        table: Its arguments in order; `entry` is the function, which may stand in a class.
        written: Arguments that the kernels write and never read: results, where the function returns none.
        changed: Arguments that they read and write.
        returns: Whether the function returns tensors.
    """

    table: ProblemTable
    written: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    returns: bool = True
