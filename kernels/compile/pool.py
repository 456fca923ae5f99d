"""Compile workers: child processes that stay warm, one job each at a time, killed when they overrun."""

from __future__ import annotations

import importlib.util
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from kopt_kb.errors import KoptError
from kopt_kb.kernels.compile.frames import read_frame, write_frame
from kopt_kb.kernels.compile.request import Compilation, CompileFailed, CompileRequest

__all__ = ["CompilePool", "Outcome"]

Outcome = list[Compilation] | KoptError
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
        outcome = self.ask(request)
        if isinstance(outcome, KoptError):
            raise outcome
        return cast("list[Compilation]", outcome)

    def ask(self, job: object) -> object:
        """Return a worker's answer to one job; an error is returned, not raised."""
        return self._workers[0].run(job, self._time_limit_s, self._start_limit_s)

    def compile_all(self, requests: Iterable[CompileRequest]) -> Iterator[tuple[int, Outcome]]:
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
            yield position, cast("Outcome", outcome)

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
    """One child process, started when needed."""

    def __init__(self, memory_limit_bytes: int) -> None:
        self._memory_limit_bytes = memory_limit_bytes
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, job: object, limit_s: float, start_limit_s: float) -> object:
        """Return the answer, or the error that says how the job died."""
        where = _name(job)
        fresh = self._process is None
        process = self._start()
        reply = _Reply()
        reader = threading.Thread(target=_exchange, args=(process, job, reply), daemon=True)
        reader.start()
        reader.join(limit_s + (start_limit_s if fresh else 0.0))
        if reader.is_alive():
            self.stop()
            return CompileFailed.of(
                "time_limit", f"compilation ran past {limit_s:g} s", where=where, fix="raise the time limit"
            )
        if not reply.came:
            status = process.wait()
            self.stop()
            return self._death(status, where)
        return reply.value

    def _death(self, status: int, where: str) -> CompileFailed:
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        if self._memory_limit_bytes:
            what = f"the compiler died ({name}), likely at the limit of {self._memory_limit_bytes} B"
            return CompileFailed.of("memory_limit", what, where=where, fix="raise the memory limit")
        return CompileFailed.of("crash", f"the compiler died ({name})", where=where)

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kopt_kb.kernels.compile.worker", str(self._memory_limit_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        return self._process

    def stop(self) -> None:
        """Kill the process with the assemblers it started, and its temporary files with it."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout:
            process.stdout.close()


_GRACE_S = 0.5
"""Time for an idle worker to remove its files after its input closed."""


def _exchange(process: subprocess.Popen[bytes], job: object, reply: _Reply) -> None:
    try:
        write_frame(cast("BinaryIO", process.stdin), job)
        reply.value = read_frame(cast("BinaryIO", process.stdout))
        reply.came = True
    except (EOFError, OSError, ValueError):
        return


def _name(job: object) -> str:
    return job.case.file if isinstance(job, CompileRequest) else str(job)


def _environment() -> dict[str, str]:
    """Return the environment of a child that finds this package where the parent found it."""
    spec = importlib.util.find_spec("kopt_kb")
    homes = [str(Path(spec.origin).resolve().parent.parent)] if spec and spec.origin else []
    paths = [*homes, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
