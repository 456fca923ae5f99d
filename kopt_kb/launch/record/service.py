"""The warm judge: one process that loads records and times their launches, one JSON line a question and an answer.

It says what its device is as its first line. A question that can't be met is answered with why; a driver error that
the device does not recover from is answered, and then the process ends: its context is of no more use. It imports no
candidate, neither torch nor triton, and reads nothing that a kernel could have written but event times and outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import Wire, canonical, parse, read
from kopt_kb.launch.record.clock import DeviceBench, Turn
from kopt_kb.launch.record.driver import Device, Driver, DriverError
from kopt_kb.launch.record.exchange import Slot, Travel
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.turns import LoadedRecord

__all__ = [
    "MAX_LINE_BYTES",
    "Greeting",
    "HostChain",
    "HostTime",
    "Load",
    "Loaded",
    "Server",
    "Take",
    "Taken",
    "TimeKnown",
    "Unload",
    "serve",
]  # fmt: skip

MAX_LINE_BYTES = 4 << 20
"""Longest question or answer."""

_MOST_REPEATS = 1 << 20


@dataclass(frozen=True, slots=True)
class Greeting(Wire):
    """What a judge says first: its device, or why there is none."""

    device: Device | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Load(Wire):
    """Load a stored record under a key, with room for so many contents."""

    key: str
    record: str
    slots: int
    folder: str
    travel: Travel = "ipc"
    chain: int = 0
    message: Literal["load"] = "load"


@dataclass(frozen=True, slots=True)
class Loaded(Wire):
    """The slots it offers and how their contents travel."""

    slots: tuple[Slot, ...] = ()
    travel: Travel = "files"
    error: str = ""
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Take(Wire):
    """A turn: launch once a slot, in order; `sealed` slots were filled anew since the last turn."""

    key: str
    slots: tuple[int, ...]
    sealed: tuple[int, ...]
    message: Literal["take"] = "take"


@dataclass(frozen=True, slots=True)
class TimeKnown(Wire):
    """Time the judge's own known work so many times."""

    times: int
    message: Literal["known"] = "known"


@dataclass(frozen=True, slots=True)
class Taken(Wire):
    """What a turn gave, or why it failed; `fatal`: the process ends now."""

    turn: Turn | None = None
    error: str = ""
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class HostChain(Wire):
    """Do a graph of launches so many times without a pause, with or without the steps; the asker has a clock."""

    key: str
    repeats: int
    empty: bool = False
    message: Literal["host_chain"] = "host_chain"


@dataclass(frozen=True, slots=True)
class HostTime(Wire):
    """Seconds by the child's own clock and launches of the record, or why it failed."""

    host_s: float = 0.0
    launches: int = 0
    error: str = ""
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Unload(Wire):
    """Give back what a key holds; an unknown key is none."""

    key: str
    message: Literal["unload"] = "unload"


Question = Load | Take | TimeKnown | HostChain | Unload
ReadRecord = Callable[[Path], tuple[LaunchRecord, Callable[[str], bytes]]]
"""Returns the checked record of a folder, and what returns its code objects."""


class Server:
    """Entries of one device by key.

    Args:
        driver: The device.
        reading: How records are read.
    """

    def __init__(self, driver: Driver, reading: ReadRecord) -> None:
        self._driver, self._reading = driver, reading
        self._bench = DeviceBench(driver)
        self._entries: dict[str, LoadedRecord] = {}

    @property
    def device(self) -> Device:
        """What the device is."""
        return self._bench.facts

    def answer(self, question: Question) -> Wire:
        """Return the answer to a question; errors are answers."""
        try:
            return self._answered(question)
        except (KoptError, OSError, MemoryError) as error:
            text = f"{error.what} [{error.error_code}]" if isinstance(error, KoptError) else str(error)[:200]
            kind = _ANSWERS[type(question)]
            return kind(error=text, fatal=isinstance(error, DriverError) and self._is_lost())

    def _answered(self, question: Question) -> Wire:
        if isinstance(question, Load):
            return self._load(question)
        if isinstance(question, TimeKnown):
            return Taken(self._bench.known(min(max(question.times, 1), 1000)))
        if isinstance(question, Unload):
            entry = self._entries.pop(question.key, None)
            if entry is not None:
                self._driver.synchronize()
                entry.__exit__()
            if not self._entries:
                self._driver.unload()
            return Loaded()
        entry = self._entries.get(question.key)
        if entry is None:
            raise BadInput(f"nothing is loaded as {question.key[:80]!r}", where="judge", code="KB440")
        if isinstance(question, HostChain):
            return HostTime(*entry.host_chain(min(max(question.repeats, 1), _MOST_REPEATS), empty=question.empty))
        entry.seal(question.sealed)
        return Taken(entry.turn(question.slots))

    def _load(self, question: Load) -> Loaded:
        if question.key in self._entries:
            raise BadInput(f"{question.key[:80]!r} is loaded already", where="judge", code="KB440")
        record, code = self._reading(Path(question.record))
        entry = LoadedRecord(
            record, code, self._bench, slots=question.slots, travel=question.travel, folder=Path(question.folder),
            chain=question.chain,
        ).__enter__()  # fmt: skip
        self._entries[question.key] = entry
        return Loaded(entry.slots, entry.travel)

    def _is_lost(self) -> bool:
        """Return whether the device still answers with an error: such a context never works again."""
        try:
            self._driver.synchronize()
        except DriverError:
            return True
        return False


_ANSWERS: Mapping[type, Callable[..., Loaded | Taken | HostTime]] = {
    Load: Loaded, Unload: Loaded, Take: Taken, TimeKnown: Taken, HostChain: HostTime,
}  # fmt: skip


def serve(server: Server, asked: IO[bytes], said: IO[bytes]) -> None:
    """Answer lines until there are no more, or one answer was fatal."""
    _say(said, Greeting(server.device))
    while line := asked.readline(MAX_LINE_BYTES):
        answer: Wire
        try:
            question = cast("Question", read(Question, parse(line, where="question"), where="question"))
        except KoptError as error:
            answer = Taken(error=f"{error.what} [{error.error_code}]")
        else:
            answer = server.answer(question)
        _say(said, answer)
        if getattr(answer, "fatal", False):
            return


def _say(said: IO[bytes], what: Wire) -> None:
    with suppress(BrokenPipeError):
        said.write(canonical(what.to_json()) + b"\n")
        said.flush()
