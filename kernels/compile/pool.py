"""Compile workers: child processes that stay warm, one job each at a time, killed when they overrun."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, cast

from kopt_kb.errors import KoptError
from kopt_kb.kernels.compile.frames import read_frame, write_frame
from kopt_kb.kernels.compile.request import Compilation, CompileFailed, CompileRequest
from kopt_kb.owned import owned_folder
from kopt_kb.process import Child, Limits, environment

__all__ = ["CompileOutcome", "CompilePool"]

CompileOutcome = list[Compilation] | KoptError
"""What became of one request: its kernels, or the error that ended it."""


class CompilePool:
    """A few warm workers; use it as a context manager.

    Args:
        workers: Child processes.
        time_limit_s: Wall time of one job; its worker is killed and replaced after it.
        memory_limit_bytes: Address space of a worker; 0 sets no limit.
        start_limit_s: Added to the first job of a worker, which imports Triton and perhaps torch.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        time_limit_s: float = 60.0,
        memory_limit_bytes: int = 0,
        start_limit_s: float = 60.0,
    ) -> None:
        self._time_limit_s, self._start_limit_s = time_limit_s, start_limit_s
        self._workers = [_Worker(memory_limit_bytes) for _ in range(workers)]

    def __enter__(self) -> CompilePool:
        """Return the pool; workers start with their first job."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all workers."""
        self.close()

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.stop()

    def compile(self, request: CompileRequest) -> list[Compilation]:
        """Return the kernels of one request; raises what the request ended in."""
        outcome = self._workers[0].run(request, self._time_limit_s, self._start_limit_s)
        if isinstance(outcome, KoptError):
            raise outcome
        return cast("list[Compilation]", outcome)

    def compile_all(self, requests: Iterable[CompileRequest]) -> Iterator[tuple[int, CompileOutcome]]:
        """Yield (position of the request, outcome) as jobs end, over all workers."""
        jobs: queue.SimpleQueue[tuple[int, CompileRequest]] = queue.SimpleQueue()
        total = 0
        for total, request in enumerate(requests, start=1):
            jobs.put((total - 1, request))
        results: queue.SimpleQueue[tuple[int, object]] = queue.SimpleQueue()
        for worker in self._workers[: max(total, 1)]:
            threading.Thread(target=self._serve, args=(worker, jobs, results), daemon=True).start()
        for _ in range(total):
            position, outcome = results.get()
            yield position, cast("CompileOutcome", outcome)

    def _serve(
        self,
        worker: _Worker,
        jobs: queue.SimpleQueue[tuple[int, CompileRequest]],
        results: queue.SimpleQueue[tuple[int, object]],
    ) -> None:
        while True:
            try:
                position, request = jobs.get_nowait()
            except queue.Empty:
                return
            results.put((position, worker.run(request, self._time_limit_s, self._start_limit_s)))


@dataclass
class _Reply:
    """Where the reading thread leaves a worker's answer."""

    value: object = None
    came: bool = False


class _Worker:
    """One child process, started when needed, with a folder for what Triton writes."""

    def __init__(self, memory_limit_bytes: int) -> None:
        self._memory_limit_bytes = memory_limit_bytes
        self._child: Child | None = None
        self._files = ExitStack()

    def run(self, job: CompileRequest, limit_s: float, start_limit_s: float) -> object:
        """Return the answer, or the error that says how the job died."""
        where = job.case.file
        fresh = self._child is None
        child = self._start()
        reply = _Reply()
        reader = threading.Thread(target=_exchange, args=(child.process, job, reply), daemon=True)
        reader.start()
        reader.join(limit_s + (start_limit_s if fresh else 0.0))
        if reader.is_alive():
            self.stop()
            return CompileFailed.of(
                "time_limit", f"compilation ran past {limit_s:g} s", where=where, fix="raise the time limit"
            )
        if not reply.came:
            child.has_ended(_DYING_S)
            return self._death(self.stop(), where)
        return reply.value

    def _death(self, status: int, where: str) -> CompileFailed:
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        if self._memory_limit_bytes:
            what = f"the compiler died ({name}), likely at the limit of {self._memory_limit_bytes} B"
            return CompileFailed.of("memory_limit", what, where=where, fix="raise the memory limit")
        return CompileFailed.of("crash", f"the compiler died ({name})", where=where)

    def _start(self) -> Child:
        if self._child is None:
            cache = self._files.enter_context(owned_folder("kb-compile-"))
            self._child = Child(
                [sys.executable, "-m", "kopt_kb.kernels.compile.worker"],
                env=environment({"TRITON_CACHE_DIR": str(cache)}, ours=True),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                limits=Limits(address_bytes=self._memory_limit_bytes),
            )
        return self._child

    def stop(self) -> int:
        """End the process with the assemblers it started, remove its files, and return its status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        status = child.end()
        for pipe in (child.process.stdin, child.process.stdout):
            with suppress(OSError):  # what was not written before it died
                cast("BinaryIO", pipe).close()
        self._files.close()
        return status


_DYING_S = 30.0
"""Most seconds between the end of a worker's answers and its status; a core of gigabytes is dumped meanwhile."""


def _exchange(process: subprocess.Popen[bytes], job: object, reply: _Reply) -> None:
    try:
        write_frame(cast("BinaryIO", process.stdin), job)
        reply.value = read_frame(cast("BinaryIO", process.stdout))
        reply.came = True
    except (EOFError, OSError, ValueError):
        return
