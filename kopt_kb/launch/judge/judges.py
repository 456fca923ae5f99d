"""The children of a contest: a judge a side, the reference between them, and the device that they share.

A child that faults, hangs or leaves its device in an error is ended; before the device is used again a fresh child has
to reproduce the time of known work, or the device counts as lost.
"""

from __future__ import annotations

import math
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kopt_kb.base.errors import BadInput, FindingError, KoptError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.channel import JUDGE, REFERENCE, Channel, ChildEndedError, ProcessChannel
from kopt_kb.launch.record.bounds import unfit_result
from kopt_kb.launch.record.clock import Turn
from kopt_kb.launch.record.driver import Device
from kopt_kb.launch.record.exchange import (
    Close,
    Compared,
    CompareSlots,
    Filled,
    FillSlots,
    Open,
    Opened,
    Slot,
    SlotResult,
    Travel,
)
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.model import LaunchRecord, TensorView
from kopt_kb.launch.record.reference import CompareFile, Distance, Prepare, Prepared
from kopt_kb.launch.record.service import Greeting, HostChain, HostTime, Load, Loaded, Take, Taken, TimeKnown, Unload
from kopt_kb.sandbox.deadline import LATE_S, left_s
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["FaultError", "Judges", "Loading", "Starting", "fit_for_a_contest", "judges", "processes"]

AnswerT = TypeVar("AnswerT", Loaded, Taken, HostTime)
ReplyT = TypeVar("ReplyT", Opened, Filled, Compared, Prepared, Distance)

_START_S, _LOAD_S, _TURN_S, _REFERENCE_S = 120.0, 120.0, 60.0, 300.0
"""Seconds that a child's start, a load, a turn, and an answer of the reference may take."""

_KNOWN_TIMES, _KNOWN_TOLERANCE = 16, 0.10
"""Repeats of the known work, and by how much its median may differ after a fault."""

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of this process's own is made in it


class FaultError(FindingError):
    """A side's kernel faulted or hung, its child went, or its device is lost; `where` is the side."""

    code = "KB458"


@dataclass(frozen=True, slots=True)
class Starting:
    """How children are started, the clock that stamps what they answer, and variables that lead to their device."""

    judge: Callable[[], Channel]
    reference: Callable[[], Channel]
    now_s: Callable[[], float] = time.perf_counter
    env: Mapping[str, str] = field(default_factory=dict)


def processes() -> Starting:
    """Return how the real children are started."""
    return Starting(lambda: ProcessChannel(JUDGE, "judge"), lambda: ProcessChannel(REFERENCE, "reference"))


@dataclass(frozen=True, slots=True)
class Loading:
    """A record that a side holds.

    Attributes:
        side: `incumbent` or `candidate`.
        key: Its name in messages.
        record: The record.
        slots: Its slots.
        travel: How contents travel.
        chain: Launches of a chain; 0: launches are timed one by one.
        unsealed: Slots that were filled since its last turn; shared and changed in place.
    """

    side: str
    key: str
    record: LaunchRecord
    slots: tuple[Slot, ...]
    travel: Travel
    chain: int
    unsealed: set[int]


class Judges:
    """Children that stay warm between contests; made by `judges`.

    Args:
        starting: How children are started.
        reference: File with make_inputs and reference that judges.
        folder: Where contents lie that travel by file.

    Attributes:
        travel: How contents are asked to travel; by files once IPC failed.
        trials: Names of the trials that checks try; empty: all that the operation declares.
        ends_at: Moment of `time.monotonic` after which nothing more is asked.
        faults: What happened to children so far.
        spent_s: Seconds that answers took so far, by kind of question.
    """

    def __init__(self, starting: Starting, reference: Path, folder: Path) -> None:
        self._starting, self._file, self._folder = starting, reference, folder
        self._sides: dict[str, tuple[Channel, Device]] = {}
        self._reference: Channel | None = None
        self._known_s, self._suspect, self._number = 0.0, False, 0
        self.travel: Travel = "ipc"
        self.trials: tuple[str, ...] = ()
        self.ends_at = math.inf
        self.faults: list[str] = []
        self.spent_s: dict[str, float] = {}

    @property
    def pid(self) -> int:
        """The process of a judge; 0 while there is none."""
        return next((channel.pid for channel, _ in self._sides.values()), 0)

    def judged_by(self, reference: Path) -> None:
        """Take another reference file from now on."""
        self._file = reference.resolve()

    @property
    def now_s(self) -> Callable[[], float]:
        """The clock that stamps answers."""
        return self._starting.now_s

    # ---- children ----------------------------------------------------------------------------

    def warm(self) -> Channel:
        """Return the reference, started if it is not there: it imports torch while this program does something else."""
        if self._reference is None:
            self._reference = self._starting.reference()
        return self._reference

    def device(self, side: str) -> Device:
        """Return the device of a side's judge, started if it is not there.

        Raises:
            MissingTool: No GPU, or cuda-bindings are not installed.
            FaultError: After a fault, the device does not do known work in the time it took before.
        """
        if side not in self._sides:
            channel = self._starting.judge()
            greeting = channel.first(Greeting, self._left_s(_START_S))
            if greeting.device is None:
                channel.end()
                fix = "run on a machine with a GPU and kopt-kb[gpu]"
                raise MissingTool(greeting.missing or "no device", where="replay", fix=fix, code="KB122")
            self._sides[side] = channel, greeting.device
            self._hold_against_known(side)
        return self._sides[side][1]

    def _hold_against_known(self, side: str) -> None:
        turn = self.known(side)
        took = statistics.median(turn.times_s)
        self._known_s = self._known_s or took
        if self._suspect and abs(took / self._known_s - 1) > _KNOWN_TOLERANCE:
            what = f"after a fault known work takes {took * 1e6:.1f} µs instead of {self._known_s * 1e6:.1f} µs"
            raise self._lost(side, what)
        self._suspect = False

    def known(self, side: str) -> Turn:
        """Return times of the judge's own known work; raises `FaultError` when it can't be done."""
        taken = self._asked(side, TimeKnown(_KNOWN_TIMES), Taken, _TURN_S)
        if taken.turn is None:
            raise self._lost(side, taken.error)
        return taken.turn

    def _asked(self, side: str, question: Wire, kind: type[AnswerT], limit_s: float) -> AnswerT:
        self.device(side)
        try:
            with self._counted(question):
                answer = self._sides[side][0].ask(question, kind, self._left_s(limit_s))
        except KoptError as error:
            lost = self._lost(side, error.what)
            self._left_s(limit_s)
            raise lost from None
        if answer.fatal:
            raise self._lost(side, answer.error)
        return answer

    @contextmanager
    def _counted(self, question: Wire) -> Iterator[None]:
        begin, kind = time.monotonic(), str(getattr(question, "message", ""))
        try:
            yield
        finally:
            self.spent_s[kind] = self.spent_s.get(kind, 0.0) + time.monotonic() - begin

    def _left_s(self, limit_s: float) -> float:
        """Return the seconds that an answer may take; raises `TimeoutError` when none are left."""
        return left_s(self.ends_at, limit_s)

    def _lost(self, side: str, what: str) -> FaultError:
        channel, _ = self._sides.pop(side)
        channel.end()
        self._suspect = True
        self.faults.append(f"{side}: {what}")
        return FaultError(what, where=side, fix="the kernel is at fault; the device is checked before its next use")

    def _referred(self, question: Wire, kind: type[ReplyT]) -> ReplyT:
        reference = self.warm()
        try:
            with self._counted(question):
                answer = reference.ask(question, kind, self._left_s(_REFERENCE_S))
        except ChildEndedError as error:
            self._reference = None
            self._left_s(_REFERENCE_S)
            raise self._reference_fails(error.what) from None
        if answer.error:
            raise self._reference_fails(answer.error)
        return answer

    def _reference_fails(self, what: str) -> FindingError:
        return FindingError(what, where=str(self._file), fix="run its functions by hand", code="KB453")

    def refresh(self) -> None:
        """End the judges: the next contest has fresh processes, contexts and allocations."""
        for channel, _ in self._sides.values():
            channel.end()
        self._sides.clear()

    def end(self) -> None:
        """End all children."""
        self.refresh()
        if self._reference is not None:
            self._reference.end()
            self._reference = None

    # ---- records -----------------------------------------------------------------------------

    def load(self, side: str, folder: Path, slots: int, chain: int = 0) -> Loading:
        """Load a stored record at a side, and open its slots at the reference.

        Raises:
            BadInput: There is no usable record, it is of no op file, or its result can't be judged.
            FaultError: The device is lost.
            FindingError: The judge refuses the record, or the reference its inputs.
        """
        record = load_record(folder)
        self._number += 1
        key = f"{side} {self._number}"
        own = self._folder / str(self._number)
        own.mkdir()
        question = Load(key, str(folder.resolve()), slots, str(own), self.travel, chain)
        loaded = self._asked(side, question, Loaded, _LOAD_S)
        if loaded.error:
            raise FindingError(loaded.error, where=side, fix="the kernel can't be loaded here", code="KB449")
        made = Loading(side, key, record, loaded.slots, loaded.travel, chain, set())
        try:
            self._open(made)
        except FindingError:
            self._asked(side, Unload(key), Loaded, _LOAD_S)
            if loaded.travel != "ipc":
                raise
            self.travel = "files"  # memory can't be opened between these processes
            return self.load(side, folder, slots, chain)
        return made

    def _open(self, made: Loading) -> None:
        record = made.record
        asked = Open(
            made.key, str(self._file), record.shape, record.dtype, record.outputs, made.slots, self.trials, record.op
        )
        self._referred(asked, Opened)

    def unload(self, made: Loading) -> None:
        """Give back what a loading holds, a little late if need be, then by ending the children that hold it."""
        ends_at, self.ends_at = self.ends_at, self.ends_at + LATE_S
        try:
            if self._reference is not None:
                with suppress(FindingError):  # windows of a child that died: what they showed is gone
                    self._referred(Close(made.key), Opened)
            if made.side in self._sides:
                self._asked(made.side, Unload(made.key), Loaded, _LOAD_S)
        except TimeoutError:
            self.end()
        finally:
            self.ends_at = ends_at

    def fill(
        self, made: Loading, slots: Sequence[int], like: Loading | None = None, *, check: bool = False,
        again: bool = False,
    ) -> Filled:  # fmt: skip
        """Have contents put into slots: fresh ones, those of another loading's slots, a check's, or used ones again."""
        filled = self._referred(FillSlots(made.key, tuple(slots), like.key if like else "", check, again), Filled)
        made.unsealed.update(slots)
        return filled

    def compare(self, made: Loading, slots: Sequence[int]) -> tuple[SlotResult, ...]:
        """Return how the outputs of slots compare with the reference."""
        return self._referred(CompareSlots(made.key, tuple(slots)), Compared).results

    def prepare(self, record: LaunchRecord, folder: Path) -> Prepared:
        """Have fresh inputs of a record written into a folder, each a file."""
        seed = secrets.randbelow(2**31)
        asked = Prepare(str(self._file), record.shape, record.dtype, seed, str(folder), op=record.op)
        return self._referred(asked, Prepared)

    def distance(self, output: Path, view: TensorView) -> Distance:
        """Return how an output in a file compares with the reference of the inputs prepared last."""
        return self._referred(CompareFile(str(output), view), Distance)

    def take(self, made: Loading, slots: Sequence[int]) -> tuple[Turn, float]:
        """Launch a loading on slots, and return what its child says and how long that took by this clock.

        Raises:
            FaultError: A kernel faulted or hung.
            FindingError: The judge refused.
        """
        begin = self.now_s()
        taken = self._asked(made.side, Take(made.key, tuple(slots), tuple(sorted(made.unsealed))), Taken, _TURN_S)
        stamp_s = self.now_s() - begin
        made.unsealed.clear()
        if taken.turn is None:
            raise FindingError(taken.error, where=made.side, fix="record it again", code="KB449")
        return taken.turn, stamp_s

    def host_chain(self, made: Loading, repeats: int, *, empty: bool) -> tuple[float, int]:
        """Return seconds by this clock of a chain of launches, and how many launches it had."""
        begin = self.now_s()
        said = self._asked(made.side, HostChain(made.key, repeats, empty), HostTime, _TURN_S)
        stamp_s = self.now_s() - begin
        if said.error:
            raise FindingError(said.error, where=made.side, fix="time it without a graph", code="KB449")
        return stamp_s, said.launches


def fit_for_a_contest(folder: Path) -> LaunchRecord:
    """Return a record that contests can judge: of an op file, replayable, its one result memory of its own.

    Raises:
        BadInput: It is another one.
    """
    record = load_record(folder)
    if not record.op:
        raise BadInput(
            "a call has no reference to compare with", where=str(folder), fix="record an op file", code="KB451"
        )
    why_not = record.not_replayable or unfit_result(record)
    if why_not:
        raise BadInput(f"not replayable: {why_not}", where=str(folder), code="KB452")
    return record


@contextmanager
def judges(reference: Path, starting: Starting | None = None) -> Iterator[Judges]:
    """Keep judges and a reference process for contests; all end with the block.

    Args:
        reference: File with make_inputs and reference.
        starting: How children are started; None: as processes of this package.
    """
    parent = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    with owned_folder("kb-replay-", parent) as folder:
        made = Judges(starting or processes(), reference.resolve(), folder)
        try:
            yield made
        finally:
            made.end()
