"""Records of sources by shape and configuration: made once by warm makers, kept as long as the loop may need them."""

from __future__ import annotations

import hashlib
import itertools
import math
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.wire import JsonMap, canonical
from kopt_kb.launch.candidate.source_config import configured
from kopt_kb.launch.judge.makers import Made, Makers
from kopt_kb.launch.kernel.declared import has_header, kernel_name, packaged_reference
from kopt_kb.launch.kernel.op_options import judging, problem_options
from kopt_kb.launch.record.judge import OBJECTS, RECORD
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.problem.tolerances import TOLERANCES, Tolerance

__all__ = ["Asked", "Choose", "RecordTarget", "Shelf", "bytes_of", "digest_of"]

_GRACE_S, _POLL_S = 0.5, 0.5
"""Seconds that records have which are being made when their search is over, and between looks whether it is."""


@dataclass(frozen=True, slots=True)
class RecordTarget:
    """For what records are made: target of the compiler, product, sourced properties by torch's names."""

    target: str
    device: str
    facts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """One record: a source on a shape, with a configuration or the one that it chooses itself.

    `problem` is the reference file of a problem outside the list.
    """

    source: bytes
    shape: str
    dtype: str
    config: JsonMap = field(default_factory=dict)
    problem: bytes = b""

    @property
    def key(self) -> str:
        """What tells it from others."""
        sources = [hashlib.sha256(one).hexdigest() for one in (self.source, self.problem)]
        words = [sources, self.shape, self.dtype, dict(self.config)]
        return hashlib.sha256(canonical(words)).hexdigest()


Choose = Callable[[Sequence[tuple[Asked, Made]]], int]
"""Which of some records that are made is used next."""


class Shelf:
    """Makes records and finds those it made.

    Args:
        folder: Where sources and records lie.
        makers: Who makes them.
        target: For what.
        most: How many records are kept; the one asked for longest ago goes first.
    """

    def __init__(self, folder: Path, makers: Makers, target: RecordTarget, most: int = 256) -> None:
        self._folder, self._makers, self._target, self._most = folder, makers, target, most
        self._made: OrderedDict[str, Made] = OrderedDict()
        self._begun: dict[str, Future[Made]] = {}
        self._count = itertools.count()
        self._threads = ThreadPoolExecutor(makers.count, thread_name_prefix="makers")

    @property
    def ahead(self) -> int:
        """Records that may be begun before an earlier one is used: all makers work, and a few records wait.

        The more there are, the less a strategy that learns has been told when it is asked.
        """
        return self._makers.count + max(2, self._makers.count // 4)

    def close(self) -> None:
        """Give up what is not begun yet."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def file_of(self, source: bytes, name: str) -> Path:
        """Return a file with this content, in a folder of its own."""
        folder = self._folder / hashlib.sha256(source).hexdigest()[:32]
        folder.mkdir(exist_ok=True)
        path = folder / name
        if not path.is_file() or path.read_bytes() != source:
            path.write_bytes(source)
        return path

    def reference_of(self, source: bytes, op: str, tolerance: Tolerance | None = None) -> Path:
        """Return the file that judges: CUDA C++ or a function with a header has no reference, so the package's does.

        Args:
            source: The candidate, or the reference that its problem has.
            op: Operation.
            tolerance: Limits of a right result; stated in the file where they are not the storage type's own.

        Raises:
            BadInput: The package's computes other options than the header declares.
        """
        packaged = packaged_reference(op) if has_header("", source) else None
        made = source
        if packaged is not None:
            made = judging(packaged.read_bytes(), op, problem_options(source, op, {}, "the header"), str(packaged))
        usual = {(one.rel_l2_err, one.max_abs_err_rel) for one in TOLERANCES.values()}
        is_usual = tolerance is None or (tolerance.rel_l2_err, tolerance.max_abs_err_rel) in usual
        stated = b"" if tolerance is None or is_usual else _stated(tolerance)
        if packaged is not None and not stated and made == packaged.read_bytes():
            return packaged
        return self.file_of(made + stated, "reference.py")

    def prepare(self, asked: Asked) -> None:
        """Begin a record that may be asked for next."""
        if asked.key not in self._begun and asked.key not in self._made:  # a kept one may go before it is asked for
            self._begun[asked.key] = self.begin(asked)

    def begin(self, asked: Asked) -> Future[Made]:
        """Begin a record, or find it; what failed for reasons of its own is not tried again."""
        known = self._made.get(asked.key)
        if known is not None:
            self._made.move_to_end(asked.key)
            done: Future[Made] = Future()
            done.set_result(known)
            return done
        if (prepared := self._begun.pop(asked.key, None)) is not None:
            return prepared
        source, config = configured(asked.source, asked.config)
        kernel = str(self.file_of(source, kernel_name(source)))
        problem = str(self.file_of(asked.problem, "reference.py")) if asked.problem else ""
        what = OpRequest(kernel, parse_shape(asked.shape), asked.dtype, config, problem)
        request = MakerRequest(what, self._target.target, self._target.device, self._target.facts, "")
        out = self._folder / f"record-{next(self._count)}"
        return self._threads.submit(self._makers.make, request, out)

    def keep(self, asked: Asked, made: Made) -> Made:
        """Remember a record; the oldest ones go."""
        self._made[asked.key] = made
        self._made.move_to_end(asked.key)
        while len(self._made) > self._most:
            _, old = self._made.popitem(last=False)
            shutil.rmtree(old.folder, ignore_errors=True)
        return made

    def all(self, asked: Sequence[Asked], ends_at: float = math.inf) -> list[Made]:
        """Return the records of all that is asked, made side by side, in order.

        Raises:
            TimeoutError: They are not made by that moment of `time.monotonic`.
        """
        begun = [self.begin(one) for one in asked]
        try:
            made = [future.result(_left_s(ends_at)) for future in begun]
        except TimeoutError:
            for future in begun:
                future.cancel()
            raise TimeoutError("the records are not made in time") from None
        return [self.keep(one, what) for one, what in zip(asked, made, strict=True)]

    def stream(
        self, asked: Iterator[Asked], ahead: int, ended: Callable[[], bool], choose: Choose | None = None
    ) -> Iterator[tuple[Asked, Made]]:
        """Yield records as they are made, with so many begun ahead; no further one is begun once `ended` says so.

        What is being made then has half a second left. Where several are made, `choose` says which comes next.
        """
        running: dict[Future[Made], Asked] = {}
        ready: list[tuple[Asked, Made]] = []
        last_s: float | None = None
        while True:
            while len(running) + len(ready) < ahead and not ended() and (one := next(asked, None)) is not None:
                running[self.begin(one)] = one
            if ended():  # what no maker has begun is not wanted any more
                running = {future: one for future, one in running.items() if not future.cancel()}
                last_s = last_s or time.monotonic() + _GRACE_S
            if not running and not ready:
                return
            wait_s = 0.0 if ready else _POLL_S if last_s is None else _left_s(last_s)
            done, _ = wait(running, wait_s, FIRST_COMPLETED)
            if not done and not ready and last_s is not None and time.monotonic() >= last_s:
                return
            for future in done:
                one = running.pop(future)
                ready.append((one, self.keep(one, future.result())))
            if ready:
                at = 0 if choose is None else choose(ready)
                yield ready.pop(at)


def _stated(tolerance: Tolerance) -> bytes:
    """Return the line by which a reference file says its limits (`judgement.limits_of`)."""
    limits = (str(tolerance.rel_l2_err), str(tolerance.max_abs_err_rel), tolerance.reason)
    return f"\n\nTOLERANCE = {limits!r}\n".encode()


def _left_s(ends_at: float) -> float | None:
    """Return the seconds until a moment, none for ever; 0 when it is over."""
    return None if math.isinf(ends_at) else max(ends_at - time.monotonic(), 0.0)


def bytes_of(folder: Path) -> tuple[bytes, ...]:
    """Return the bytes of a stored record, then those of its code objects by their names."""
    return ((folder / RECORD).read_bytes(), *(one.read_bytes() for one in sorted((folder / OBJECTS).iterdir())))


def digest_of(folder: Path) -> str:
    """Return the sha256 of a stored record."""
    return hashlib.sha256((folder / RECORD).read_bytes()).hexdigest()
