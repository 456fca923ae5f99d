"""Times of many records on several devices at once, made comparable: each is a ratio to one record on its own device.

Times of different devices are never compared. Every worker times the incumbent on its device, again after so many
records since clocks drift, and says by how much longer or shorter a record takes. A record whose worker went while it
was timed is tried once more by another one, and counted once; a worker whose device is lost takes no more. Ratios rank,
they confirm nothing: that is for one device alone.
"""

from __future__ import annotations

import math
import queue
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from kopt_kb.base.errors import FindingError, KoptError
from kopt_kb.launch.judge.channel import ChildEndedError
from kopt_kb.launch.judge.judging import JudgeDevice, Timed

__all__ = ["Ranked", "Ranking", "RankingWorker", "WorkerGoneError"]

_AGAIN_AFTER = 12
"""Records after which a worker times the incumbent anew."""
_TRIES = 2
"""Workers that may go under one record before it is taken to be the record's fault."""
_POLL_S = 0.05


class WorkerGoneError(ChildEndedError):
    """A worker went while it timed something; whether that was the record's doing is not known."""


class RankingWorker(Protocol):
    """Times records on a device of its own; `Judging` of this machine is one, an actor of a cluster another."""

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        """Return the device; raises `KoptError` when there is none."""

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Time records, as `Judging.time`; raises `WorkerGoneError` when the worker went."""

    @property
    def faults(self) -> int:
        """Children that ended, hung or faulted so far: what was timed then may be tried elsewhere."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record's median time in seconds of the first device, by its ratio to the incumbent; or why there is none."""

    key: bytes
    time_s: float = math.inf
    problem: str = ""
    worker: int = -1


@dataclass(slots=True)
class _Task:
    key: bytes
    folder: Path
    tries: int = 0


class Ranking:
    """Workers with records to time; a context manager.

    Args:
        workers: One a device.
        incumbent: The record that all others are compared with.
        reference: File that makes inputs and judges results.
        launches: Of each record at first, and of one that is near the best so far.
        ends_at: Moment of `time.monotonic` after which nothing more is timed.
        near: Times of the best so far up to which a record is near it.
    """

    def __init__(
        self,
        workers: Sequence[RankingWorker],
        incumbent: Path,
        reference: Path,
        launches: tuple[int, int],
        ends_at: float,
        near: float = math.inf,
    ) -> None:
        self._incumbent, self._reference, self._ends_at = incumbent, reference, ends_at
        self._launches, self._near, self._best = launches, near, math.inf
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._ranked: queue.SimpleQueue[Ranked] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._first_s = 0.0
        self._alive = len(workers)
        self.waiting = 0
        self.lost: list[str] = []
        self.counts = [0] * len(workers)
        self._threads = [
            threading.Thread(target=self._serve, args=(number, worker), name=f"device {number}", daemon=True)
            for number, worker in enumerate(workers)
        ]

    def __enter__(self) -> Ranking:
        """Start the workers."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let each worker end what it is at; the rest is not timed."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def submit(self, key: bytes, folder: Path) -> None:
        """Have a record timed by whoever is free."""
        self.waiting += 1
        self._tasks.put(_Task(key, folder))

    def ready(self, most_waiting: int) -> Iterator[Ranked]:
        """Yield what is known, and wait until at most so many records are without an answer."""
        while self.waiting:
            try:
                one = self._ranked.get(block=self.waiting > most_waiting, timeout=_POLL_S)
            except queue.Empty:
                if self.waiting <= most_waiting:
                    return
                if not self._alive or time.monotonic() >= self._ends_at + 1:
                    yield from self._given_up()
                    return
                continue
            self.waiting -= 1
            yield one

    def _given_up(self) -> Iterator[Ranked]:
        """Yield the answers that are there, and that there is none for each record that nobody takes."""
        why = "no device is left" if not self._alive else "was not timed within the seconds of the search"
        while self.waiting:
            try:
                ranked = self._ranked.get(block=any(map(threading.Thread.is_alive, self._threads)), timeout=_POLL_S)
            except queue.Empty:
                try:
                    ranked = Ranked(self._tasks.get(block=False).key, problem=why)
                except queue.Empty:
                    if any(map(threading.Thread.is_alive, self._threads)):
                        continue
                    return
            self.waiting -= 1
            yield ranked

    @property
    def first_s(self) -> float:
        """Time of the incumbent that all answers are given in; 0 before it was timed."""
        return self._first_s

    # ---- one worker --------------------------------------------------------------------------

    def _serve(self, number: int, worker: RankingWorker) -> None:
        try:
            self._work(number, worker)
        except KoptError as error:
            with self._lock:
                self.lost.append(f"device {number}: {error.what}")
        finally:
            with self._lock:
                self._alive -= 1

    def _work(self, number: int, worker: RankingWorker) -> None:
        """Take records until it is over; what leaves this is the end of the worker."""
        own_s, since = 0.0, 0
        while not self._over.is_set() and time.monotonic() < self._ends_at:
            try:
                task = self._tasks.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            try:
                if not own_s or since >= _AGAIN_AFTER:
                    own_s, since = self._own_s(worker), 0
                since += 1
                ratio, problem = self._ratio(worker, task, own_s)
            except TimeoutError:
                self._ranked.put(Ranked(task.key, problem="was not timed within the seconds of the search"))
                return
            except WorkerGoneError:
                own_s = 0.0  # another process, another clock: nothing is known of it
                self._again(task)
                worker.machine(self._ends_at)
                continue
            except KoptError:
                self._tasks.put(task)
                raise
            self.counts[number] += 1
            self._ranked.put(Ranked(task.key, ratio * self._first_s, problem, number))

    def _ratio(self, worker: RankingWorker, task: _Task, own_s: float) -> tuple[float, str]:
        """Return by how much longer a record takes than the incumbent there; looked at twice when near the best."""
        few, more = self._launches
        found = self._timed(worker, task, few)
        if found.times_s and more > few and statistics.median(found.times_s) / own_s <= self._near * self._best:
            found = self._timed(worker, task, more)
        ratio = statistics.median(found.times_s) / own_s if found.times_s else math.inf
        with self._lock:
            self._best = min(self._best, ratio)
        return ratio, found.problem

    def _own_s(self, worker: RankingWorker) -> float:
        """Return the incumbent's time on a worker's device; raises `FindingError` when it can't be taken there."""
        found = Timed()
        for _ in range(_TRIES):
            before = worker.faults
            (found,) = worker.time(
                [self._incumbent], self._reference, 2 * max(self._launches), self._ends_at, again=True
            )
            if not found.problem:
                own_s = statistics.median(found.times_s)
                with self._lock:
                    self._first_s = self._first_s or own_s
                return own_s
            if worker.faults == before:
                break
        raise FindingError(f"the incumbent can't be timed: {found.problem}", where="replay", code="KB458")

    def _timed(self, worker: RankingWorker, task: _Task, launches: int) -> Timed:
        before = worker.faults
        (found,) = worker.time([task.folder], self._reference, launches, self._ends_at, again=True)
        if found.problem and worker.faults > before and task.tries + 1 < _TRIES:
            raise WorkerGoneError(found.problem, where="replay")
        return found

    def _again(self, task: _Task) -> None:
        task.tries += 1
        if task.tries < _TRIES:
            self._tasks.put(task)
        else:
            self._ranked.put(Ranked(task.key, problem=f"{_TRIES} workers went while they timed it"))
