"""What is known of a call whose launcher has no reference besides itself: plain data, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.launch.record.request import TensorArgument
from kopt_kb.problem.table import ProblemTable

__all__ = ["CallGiven", "CalledTable", "Range"]

Range = tuple[int, int]
"""Least value of an integer tensor, and what its values stay below."""


@dataclass(frozen=True, slots=True)
class CallGiven:
    """One call as a user gives it.

    Attributes:
        function: Name in the file, `Class.apply` too.
        arguments: Parameter → tensor's layout, or value.
        ranges: Integer tensor without values → what it may hold.
    """

    function: str
    arguments: Mapping[str, object]
    ranges: Mapping[str, Range]

    @property
    def tensors(self) -> dict[str, TensorArgument]:
        """The tensors among the arguments."""
        return {name: one for name, one in self.arguments.items() if isinstance(one, TensorArgument)}


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
