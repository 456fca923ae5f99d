"""Compile workers: child processes that stay warm, one job each at a time, killed when they overrun."""

from __future__ import annotations

import math
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import kopt_kb
from kopt_kb.base.errors import KoptError
from kopt_kb.launch.compile.frames import HEAD_BYTES, Answered, CompileOutcome, asked, outcome_of, read_frame
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, Listed
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import ChildLimits, environment
from kopt_kb.sandbox.talk import Silent, Talk

__all__ = ["CompilePool", "elsewhere"]


class CompilePool:
    """A few warm workers; use it as a context manager.

    Args:
        workers: Child processes.
        time_limit_s: Wall time of one job; its worker is killed and replaced after it.
        memory_limit_bytes: Address space of a worker; 0 sets no limit.
        start_limit_s: Added to the first job of a worker, which imports Triton and perhaps torch; of CUDA C++,
            which imports neither, a tenth of it.
        python: Interpreter of the workers, whose own packages come first; empty: this one.
        ends_at: Moment of `time.monotonic` at which every job is over, whatever its limits.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        time_limit_s: float = 60.0,
        memory_limit_bytes: int = 0,
        start_limit_s: float = 60.0,
        python: str = "",
        ends_at: float = math.inf,
    ) -> None:
        self._time_limit_s, self._start_limit_s = time_limit_s, start_limit_s
        self._workers = [_Worker(memory_limit_bytes, python, ends_at) for _ in range(workers)]

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
        outcome = self._ended(self._workers[0], request)
        if isinstance(outcome, KoptError):
            raise outcome
        return outcome

    def listed(self, request: CompileRequest) -> Listed:
        """Return the configurations that the kernel of a request chooses from; raises what the request ended in."""
        asked_for = replace(request, listing=True)
        outcome = self._workers[0].run(asked_for, self._time_limit_s, self._start_limit_s)
        if isinstance(outcome, KoptError):
            raise outcome
        return outcome if isinstance(outcome, Listed) else Listed(())

    def compile_all(self, requests: Iterable[CompileRequest]) -> Iterator[tuple[int, CompileOutcome]]:
        """Yield (position of the request, outcome) as jobs end, over all workers."""
        jobs: queue.SimpleQueue[tuple[int, CompileRequest]] = queue.SimpleQueue()
        total = 0
        for total, request in enumerate(requests, start=1):
            jobs.put((total - 1, request))
        results: queue.SimpleQueue[tuple[int, CompileOutcome]] = queue.SimpleQueue()
        for worker in self._workers[: max(total, 1)]:
            threading.Thread(target=self._serve, args=(worker, jobs, results), daemon=True).start()
        for _ in range(total):
            position, outcome = results.get()
            yield position, outcome

    def _serve(
        self,
        worker: _Worker,
        jobs: queue.SimpleQueue[tuple[int, CompileRequest]],
        results: queue.SimpleQueue[tuple[int, CompileOutcome]],
    ) -> None:
        while True:
            try:
                position, request = jobs.get_nowait()
            except queue.Empty:
                return
            results.put((position, self._ended(worker, request)))

    def _ended(self, worker: _Worker, request: CompileRequest) -> CompileOutcome:
        found = worker.run(request, self._time_limit_s, self._start_limit_s)
        return [] if isinstance(found, Listed) else found


class _Worker:
    """One child process, started when needed, with a folder for what Triton writes."""

    def __init__(self, memory_limit_bytes: int, python: str = "", ends_at: float = math.inf) -> None:
        self._memory_limit_bytes, self._ends_at = memory_limit_bytes, ends_at
        self._command = elsewhere(python, _WORKER) if python else [sys.executable, "-m", _WORKER]
        self._is_ours = not python
        self._talk: Talk | None = None
        self._files = ExitStack()

    def run(self, job: CompileRequest, limit_s: float, start_limit_s: float) -> Answered:
        """Return the answer, or the error that says how the job died."""
        where = job.case.file
        begin = time.monotonic()
        start_s = start_limit_s * (_BARE if Path(where).suffix == ".cu" else 1.0) if self._talk is None else 0.0
        end = min(begin + limit_s + start_s, self._ends_at)
        if end <= begin:
            return CompileFailed.of("time_limit", "no time is left to compile", where=where)
        talk = self._start()
        try:
            talk.say(asked(job), end - time.monotonic())
            line = talk.line(HEAD_BYTES, end - time.monotonic())
            return outcome_of(*read_frame(line, lambda count: talk.exactly(count, end - time.monotonic())))
        except Silent as error:
            if error.gone:
                talk.child.has_ended(_DYING_S)
                return self._death(self.stop(), where)
            self.stop()
            what = f"compilation ran past {min(limit_s, end - begin):.4g} s"
            return CompileFailed.of("time_limit", what, where=where, fix="raise the time limit (--run-s)")
        except ValueError as error:
            self.stop()
            return CompileFailed.of("crash", f"the compiler's answer is none: {error}", where=where)
        except KoptError as error:
            self.stop()
            return error

    def _death(self, status: int, where: str) -> CompileFailed:
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        if self._memory_limit_bytes:
            what = f"the compiler died ({name}), likely at the limit of {self._memory_limit_bytes} B"
            return CompileFailed.of("memory_limit", what, where=where, fix="raise the memory limit")
        return CompileFailed.of("crash", f"the compiler died ({name})", where=where)

    def _start(self) -> Talk:
        if self._talk is None:
            cache = self._files.enter_context(owned_folder("kb-compile-"))
            self._talk = Talk(
                self._command,
                env=environment({"TRITON_CACHE_DIR": str(cache)}, ours=self._is_ours),
                limits=ChildLimits(address_bytes=self._memory_limit_bytes),
            )
        return self._talk

    def stop(self) -> int:
        """End the process with the assemblers it started, remove its files, and return its status."""
        talk, self._talk = self._talk, None
        if talk is None:
            return 0
        status = talk.end()
        self._files.close()
        return status


_BARE = 0.1
"""Share of the time to start that a worker needs which imports neither Triton nor torch."""

_DYING_S = 30.0
"""Most seconds between the end of a worker's answers and its status; a core of gigabytes is dumped meanwhile."""

_WORKER = "kopt_kb.launch.compile.worker"


def elsewhere(python: str, module: str) -> list[str]:
    """Return the command by which another interpreter runs a module's `main`.

    Its own packages are found before those of this one, which bring what it lacks.
    """
    return [python, "-c", f"import sys; sys.path += sys.argv[1:]; from {module} import main; main()", *_packages()]


def _packages() -> list[str]:
    """Return where this program and what it needs are found."""
    return list(dict.fromkeys([str(Path(kopt_kb.__file__).resolve().parents[1]), *filter(None, sys.path)]))
