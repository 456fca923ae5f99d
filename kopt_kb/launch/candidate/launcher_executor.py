"""Runs launchers under a judge: two processes a launcher, which can be started before there is a job for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from kopt_kb.launch.candidate.answers import Trust
from kopt_kb.launch.candidate.exchange import give
from kopt_kb.launch.candidate.executor import PRINTED, fill, outcome_of
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import Child, ChildLimits, environment, finish

__all__ = ["LauncherExecutor"]

_MODULE = "kopt_kb.launch.candidate.launcher_child"


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A judge that waits for its job, with the process that will call the launcher below it."""

    argv: tuple[str, ...]
    child: Child
    folder: Path
    log: IO[bytes]
    held: ExitStack

    def go(self) -> None:
        """Say that its job is there; a judge that is gone shows when it is waited for."""
        asked = self.child.process.stdin
        if asked is not None:
            with suppress(BrokenPipeError), asked:
                asked.write(b"go\n")


class LauncherExecutor:
    """Does jobs of the kind `launcher`, each in processes of its own; close it.

    Args:
        device: Where launchers run, as torch names it.
        env: Variables laid over this process's.
    """

    name, simulated = "launcher", False
    trust: Trust = "isolated"

    def __init__(self, device: str = "cuda", env: Mapping[str, str] | None = None) -> None:
        self._device, self._env = device, dict(env or {})
        self._waiting: _Waiting | None = None

    def prepare(self) -> None:
        """Start the processes of the next job, unless they are there: their imports take longer than most jobs."""
        self._waiting = self._ready()

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended; a hang, a crash, or memory run out is an outcome, never an exception."""
        waiting, self._waiting = self._ready(), None
        with waiting.held:
            started(waiting.argv, waiting.child.pid, waiting.child.ticks)
            folder = waiting.folder / "job"
            folder.mkdir()
            fill(folder, job)
            token = give(folder, job.kind, replace(job.body, device=job.body.device or self._device))
            waiting.go()
            done = finish(waiting.child, ChildLimits(job.limits.wall_s, job.limits.resident_bytes), waiting.log)
            return outcome_of(folder, job.kind, token, done, waiting.folder / PRINTED)

    def _ready(self) -> _Waiting:
        if self._waiting is not None and self._waiting.child.has_ended():
            self.close()
        return self._waiting or self._start()

    def close(self) -> None:
        """End what waits."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.held.close()

    def _start(self) -> _Waiting:
        with ExitStack() as stack:
            folder = stack.enter_context(owned_folder("kb-run-"))
            log = stack.enter_context((folder / PRINTED).open("wb"))
            argv = (sys.executable, "-P", "-m", _MODULE, str(folder), self._device)
            env = environment(self._env, ours=True)
            child = Child(argv, env=env, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
            if child.process.stdin is not None:
                stack.enter_context(child.process.stdin)
            stack.callback(child.end)
            return _Waiting(argv, child, folder, log, stack.pop_all())
