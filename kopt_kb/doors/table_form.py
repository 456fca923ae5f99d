"""The door `TableForm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.launch.compile.request import KernelCase
    from kopt_kb.problem.tuned_table import TunedRow, TunedTable

__all__ = ["TableForm"]


@dataclass(frozen=True, slots=True)
class TableForm:
    """A form of tuned tables: files that map a shape to the settings of a kernel.

    Attributes:
        name: Stable name.
        what: The same in a reader's words with an article, for messages.
        recognises: Whether a file of this name, which begins with these bytes, is such a table.
        read: Returns the table in a file's bytes, given its path; raises `BadInput` with file and line or key for what
            is cut off, named twice, or of another type.
        write: Returns the bytes of a table. One that was read and not changed gives the bytes that it was read from; in
            one that was changed, rows that stay keep theirs.
        serves: Returns the row that the program which reads the table takes for extents by name, None where it takes
            none; left out where the form has no such rule.
        settings: Names of settings that rows of this form may have; empty: any.
        launches: Returns what a row launches for a target: each product of the layer as a kernel of the program's
            files, whose imports start from the folder, with its arguments. Raises `BadInput`: KB081 where the launch
            fails or computes something else, any other code where it can't be told. Left out where rows name a
            finished kernel.
        unread: Returns why the program, whose imports start from the folder, never asks for a table of this name; empty
            where it does, or where it can't be told. Left out where any name is read.
        asks: Returns the extents by name, those of the table and those of a row, that an operation of torch looks up,
            given its name and the extents of its inputs; None for any other operation.
    """

    name: str
    what: str
    recognises: Callable[[str, bytes], bool]
    read: Callable[[bytes, Path], TunedTable]
    write: Callable[[TunedTable], bytes]
    serves: Callable[[TunedTable, Mapping[str, int]], TunedRow | None] | None = None
    settings: frozenset[str] = frozenset()
    launches: Callable[[TunedTable, TunedRow, Path, str], tuple[KernelCase, ...]] | None = None
    unread: Callable[[TunedTable, Path], str] | None = None
    asks: Callable[[str, tuple[tuple[int, ...], ...]], Mapping[str, int] | None] | None = None
