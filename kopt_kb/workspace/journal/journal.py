"""The journal's one writer: locked for life, and nothing it acknowledged is ever lost."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from kopt_kb.base.wire import WireError, canonical, plain
from kopt_kb.workspace.journal.campaign_events import Resumed
from kopt_kb.workspace.journal.chain import GENESIS, Head, JournalError, good_end, seal
from kopt_kb.workspace.journal.disk import Files
from kopt_kb.workspace.journal.events import VERSION, Event, EventData, abandoned_runs, checked_data, format_time
from kopt_kb.workspace.journal.reader import journal_bytes, parse_events, read_journal

__all__ = ["MAX_LINE_BYTES", "Clock", "Journal", "JournalBusyError", "read_journal"]

Clock = Callable[[], datetime]

MAX_LINE_BYTES = 1 << 20
"""Longest line a writer makes; what is larger belongs into a blob."""


class JournalBusyError(JournalError):
    """Another process, or another part of this one, is writing this journal."""

    code = "KB303"


def utc_now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


class Journal:
    """The one writer of a journal; holds the file's lock until it is closed.

    Use `create` or `open`, and close it (it is a context manager). The lock belongs to the open file:
    start child processes with `subprocess`, never with a bare fork, which would share it.
    """

    def __init__(self, path: Path, fd: int, clock: Clock, files: Files) -> None:
        self._path = path
        self._fd = fd
        self._clock = clock
        self._files = files
        self._events: list[Event] = []
        self._end_bytes = 0
        self._broken = ""
        self._owner_pid = os.getpid()
        self._mutex = threading.Lock()

    @classmethod
    def create(cls, path: Path | str, *, clock: Clock = utc_now, files: Files | None = None) -> Self:
        """A writer on a new, empty journal whose name is durable in its folder.

        Raises:
            JournalError: The file exists already, or the folder can't be written.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        journal = cls._start(Path(path), flags, clock, files or Files())
        try:
            journal._files.sync_folder(journal._path.parent)
        except OSError as error:
            journal.close()
            raise _refused(journal._path, error) from error
        return journal

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        clock: Clock = utc_now,
        files: Files | None = None,
        check: Callable[[tuple[Event, ...]], None] | None = None,
    ) -> Self:
        """A writer on an existing journal.

        A torn write after the last newline is cut off, and a `resumed` event says how long it was and
        which runs nobody waits for any more.

        Args:
            path: Its file.
            clock: Dates events.
            files: System calls.
            check: Called with the events before anything is written; what it raises leaves the file as it is.

        Raises:
            JournalBusyError: Somebody else holds the lock.
            JournalError: No such file, a bad line (`file:line`), or events of a newer version.
        """
        journal = cls._start(Path(path), os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, clock, files or Files())
        try:
            journal._load(check)
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def hold(cls, path: Path | str, *, files: Files | None = None) -> Self:
        """The lock of an existing journal and nothing else: no event is read, and the file stays as it is.

        For work that must not run beside a writer's and records nothing; it can't append.

        Raises:
            JournalBusyError: Somebody else holds the lock.
            JournalError: No such file.
        """
        journal = cls._start(Path(path), os.O_RDONLY | os.O_CLOEXEC, utc_now, files or Files())
        journal._broken = "opened for its lock only"
        return journal

    @classmethod
    def _start(cls, path: Path, flags: int, clock: Clock, files: Files) -> Self:
        try:
            fd = files.open(path, flags)
        except OSError as error:
            raise _refused(path, error) from error
        try:
            files.lock(fd)
            _check_same_file(path, fd)
        except BlockingIOError as error:
            files.close(fd)
            raise JournalBusyError(
                "another process is writing this journal", where=str(path), fix="wait for it or stop it"
            ) from error
        except OSError as error:
            files.close(fd)
            raise _refused(path, error) from error
        return cls(path, fd, clock, files)

    def _load(self, check: Callable[[tuple[Event, ...]], None] | None) -> None:
        data = journal_bytes(self._path)
        self._events = list(parse_events(data, self._path))
        for event in self._events:
            if event.v > VERSION:
                raise JournalError(
                    f"was written by a newer version (v {event.v}) and can't be continued by this one",
                    where=f"{self._path}:{event.seq}",
                    fix="update kopt-kb",
                    code="KB311",
                )
        if check is not None:
            check(tuple(self._events))
        self._end_bytes = good_end(data)
        torn_bytes = len(data) - self._end_bytes
        try:
            if torn_bytes:
                self._files.truncate(self._fd, self._end_bytes)
            # A writer killed between write and fsync leaves a whole line that is not durable yet.
            self._files.fsync(self._fd)
        except OSError as error:
            raise _refused(self._path, error) from error
        if torn_bytes:
            runs = abandoned_runs(self._events)
            self.append(Resumed.kind, Resumed(torn_bytes=torn_bytes, abandoned_runs=runs))

    @property
    def path(self) -> Path:
        """The journal's file."""
        return self._path

    @property
    def events(self) -> tuple[Event, ...]:
        """All acknowledged events."""
        return tuple(self._events)

    def events_after(self, seq: int) -> tuple[Event, ...]:
        """The acknowledged events with a larger number."""
        return tuple(self._events[seq:])

    def event(self, seq: int) -> Event:
        """The acknowledged event of this number, from 1."""
        return self._events[seq - 1]

    @property
    def head(self) -> Head:
        """Number and hash of the last acknowledged event; (0, GENESIS) when there is none."""
        last = self._events[-1] if self._events else None
        return Head(last.seq, last.zh) if last else Head(0, GENESIS)

    def append(self, kind: str, data: EventData | Mapping[str, object]) -> Event:
        """Write one event; it is durable when this returns.

        Args:
            kind: One of `events.KINDS`.
            data: Its dataclass, or the same as plain JSON.

        Raises:
            BadInput: Unknown kind.
            WireError: A wrong field; nothing was written.
            JournalError: The event could not be made durable; the file ends at the last good event.
        """
        checked = checked_data(kind, data)
        with self._mutex:
            self._check_usable()
            head, t = self.head, format_time(self._clock())
            members = {"v": VERSION, "seq": head.seq + 1, "t": t, "kind": kind, "data": plain(checked)}
            line, zh = seal(canonical(members), head.zh)
            if len(line) > MAX_LINE_BYTES:
                raise WireError(
                    f"makes a line of {len(line)} bytes, more than {MAX_LINE_BYTES}",
                    where=kind,
                    fix="store the content as a blob and name its hash",
                )
            event = Event(VERSION, head.seq + 1, t, kind, checked, zh)
            # Whatever interrupts the next three lines, a signal included, leaves the writer unusable:
            # the file may then hold a line that was never acknowledged.
            self._broken = "interrupted append"
            self._make_durable(line)
            self._events.append(event)
            self._broken = ""
            return event

    def _check_usable(self) -> None:
        where = str(self._path)
        if self._fd < 0:
            raise JournalError("is closed", where=where, code="KB112")
        if os.getpid() != self._owner_pid:
            raise JournalError(
                "a forked child may not write it", where=where, fix="start children with subprocess", code="KB112"
            )
        if self._broken:
            raise JournalError(
                f"takes no more events after: {self._broken}", where=where, fix="reopen it", code="KB112"
            )
        found = os.fstat(self._fd)
        if found.st_size != self._end_bytes or found.st_nlink == 0:
            raise JournalError(
                "another program changed or removed the file while it was open for writing",
                where=where,
                fix="restore it and reopen",
                code="KB112",
            )

    def _make_durable(self, line: bytes) -> None:
        try:
            written = self._files.write(self._fd, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes could be written")
        except OSError as error:
            self._broken = self._cut()
            raise _refused(self._path, error) from error
        try:
            self._files.fsync(self._fd)
        except OSError as error:
            # After a failed fsync the system may have dropped the pages and report success next time.
            self._broken = self._cut() or "a failed fsync"
            raise _refused(self._path, error) from error
        self._end_bytes += len(line)

    def _cut(self) -> str:
        """Truncate to the last good end; what went wrong with that, empty for nothing."""
        try:
            self._files.truncate(self._fd, self._end_bytes)
        except OSError as error:
            return f"a failed truncation ({error.strerror or error})"
        return ""

    def close(self) -> None:
        """Give the lock back; closing twice is harmless."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            self._files.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_same_file(path: Path, fd: int) -> None:
    opened, named = os.fstat(fd), path.stat()
    if not stat.S_ISREG(opened.st_mode):
        raise OSError("it is not a regular file")
    if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
        raise OSError("the file was replaced while it was opened")


def _refused(path: Path, error: OSError) -> JournalError:
    if isinstance(error, FileNotFoundError):
        return JournalError("there is no journal here", where=str(path), fix="create one with kb init", code="KB110")
    if isinstance(error, FileExistsError):
        return JournalError("there is a journal already; it is never overwritten", where=str(path), code="KB113")
    return JournalError(f"can't be written: {error.strerror or error}", where=str(path), code="KB112")
