"""Reads a journal without a lock and verifies every byte of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from kopt_kb.base.wire import WireError, parse
from kopt_kb.workspace.journal.chain import JournalError, Line, scan
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event, event_from_json

__all__ = ["journal_bytes", "parse_events", "read_journal"]

_READ_ATTEMPTS = 3


def read_journal(path: Path | str) -> tuple[Event, ...]:
    """All events up to the last newline, verified byte for byte; takes no lock and writes nothing.

    A line a writer is just adding is not seen. An event can be seen shortly before it is acknowledged.

    Raises:
        JournalError: No such file, or a bad line (`file:line`).
    """
    path = Path(path)
    data = journal_bytes(path)
    for _ in range(_READ_ATTEMPTS):
        try:
            return parse_events(data, path)
        except JournalError:
            # A writer that recovers a torn tail can change the file while it is read: only bytes that
            # stay the same are judged.
            again = journal_bytes(path)
            if again == data:
                raise
            data = again
    return parse_events(data, path)


def journal_bytes(path: Path) -> bytes:
    """The journal's bytes, a torn tail included; JournalError when there is no such regular file."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise JournalError(f"can't be read: {error.strerror or error}", where=str(path), code="KB111") from error
    if data is None:
        raise JournalError("there is no journal here", where=str(path), fix="create one with kb init", code="KB110")
    return data


def parse_events(data: bytes, path: Path) -> tuple[Event, ...]:
    """The verified events of the journal's bytes; JournalError names the first bad line."""
    return tuple(_event(line, path) for line in scan(data, str(path)))


def _event(line: Line, path: Path) -> Event:
    where = f"{path}:{line.number}"
    try:
        members = cast("dict[str, Any]", parse(line.raw))
        event = event_from_json(members)
    except WireError as error:
        what = f"field {error.where} {error.what}" if error.where else f"is no event: {error.what}"
        raise JournalError(what, where=where) from error
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise JournalError(f"is no event: {error}", where=where) from error
    if event.seq != line.number:
        raise JournalError(f"carries the number {event.seq}", where=where)
    return event
