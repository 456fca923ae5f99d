"""SQLite reports opened so that nothing can change them and no damage can hang or flood the reader."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["open_database", "text_of", "whole_of"]

_MAX_VALUE_BYTES = 1 << 26
_STEPS = 100_000
_LIMIT_S = 20.0
_LIMIT_S_PER_BYTE = 2e-7  # ten times what the views of the tools' own schemas take


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a report read-only and immutable; every SQLite failure inside becomes a `ReportError`.

    A report may bring views of its own: they run without functions that have side effects, and end with the limit.

    Raises:
        ReportError: The file is damaged, lacks a table or column, or takes longer than its size explains.
    """
    limit_s = _LIMIT_S + _LIMIT_S_PER_BYTE * path.stat().st_size
    deadline = time.thread_time() + limit_s
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_progress_handler(lambda: int(time.thread_time() > deadline), _STEPS)
        yield connection
    except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
        what = (
            f"not read within {limit_s:.0f} s of processor time"
            if time.thread_time() > deadline
            else f"damaged SQLite file: {' '.join(str(error).split())}"
        )
        raise ReportError(what, where=path, fix="copy or record the report again") from error
    finally:
        connection.close()


def whole_of(value: object) -> int | None:
    """Return a whole number that is not negative, None for anything else."""
    return value if isinstance(value, int) and value >= 0 else None


def text_of(value: object) -> str:
    """Return a text, empty for anything else."""
    return value if isinstance(value, str) else ""
