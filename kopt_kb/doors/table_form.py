"""The door `TableForm`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.problem.tuned_table import TunedTable

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
    """

    name: str
    what: str
    recognises: Callable[[str, bytes], bool]
    read: Callable[[bytes, Path], TunedTable]
    write: Callable[[TunedTable], bytes]
