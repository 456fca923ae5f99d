"""Executors that run candidates in a child process of their own, here or behind a command the user gives."""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.runners.candidate.job import Ending, Job, Outcome, Started
from kopt_kb.runners.child_process import TOO_MUCH_PRINTED, read_tail, watch

__all__ = ["ChildProcessExecutor", "CommandExecutor"]


@dataclass(frozen=True, slots=True)
class ChildProcessExecutor:
    """Runs each job in a fresh process with its own session, which dies with this one.

    Attributes:
        device: Device of the candidates; "cpu" for kernels that run there.
        wrapper: Words before the child's command line, such as a cluster's launcher; empty: here.
        env: Environment variables laid over this process's.
    """

    device: str = "cuda"
    wrapper: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False

    @property
    def name(self) -> str:
        """How records name it."""
        return "command" if self.wrapper else "child process"

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended; a hang, a crash, or memory run out is an outcome, never an exception."""
        with tempfile.TemporaryDirectory(prefix="kb-run-", ignore_cleanup_errors=True) as name:
            folder, token = Path(name) / "job", secrets.token_hex(16)
            folder.mkdir()
            _fill(folder, job, token, self.device)
            with (folder / "printed.txt").open("wb") as printed:
                return self._watch(job, folder, token, printed, started)

    def _watch(self, job: Job, folder: Path, token: str, printed: Any, started: Started) -> Outcome:
        parent = 0 if self.wrapper else os.getpid()
        argv = (*self.wrapper, sys.executable, "-P", "-m", "kopt_kb.runners.candidate.child", str(folder), str(parent))
        env, limits = _environment(self.env), job.limits
        ended = watch(argv, printed=printed, env=env, limits=limits, started=started)
        return _outcome(folder, token, ended.code, ended.ending, ended.wall_s)


def CommandExecutor(command: tuple[str, ...], *, device: str = "cuda") -> ChildProcessExecutor:  # noqa: N802
    """Return an executor that puts a user's command before each child; it must share this machine's files."""
    return ChildProcessExecutor(device=device, wrapper=command)


def _fill(folder: Path, job: Job, token: str, device: str) -> None:
    (folder / "candidate.py").write_bytes(job.candidate)
    (folder / "incumbent.py").write_bytes(job.incumbent or job.candidate)
    if job.reference:
        (folder / "reference.py").write_bytes(job.reference)
    if job.best:
        (folder / "best.py").write_bytes(job.best)
    body = {"device": device, **job.body}
    text = json.dumps({"kind": job.kind, "body": body, "token": token})
    (folder / "job.json").write_text(text, encoding="utf-8")


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    import kopt_kb

    root = str(Path(kopt_kb.__file__).resolve().parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), **more}


def _outcome(folder: Path, token: str, code: int, ending: Ending | None, wall_s: float) -> Outcome:
    printed = read_tail(folder / "printed.txt")
    if ending == "limit":
        printed += f"\nkb: it {TOO_MUCH_PRINTED} and was ended\n"
    status, number = (code, None) if code >= 0 else (None, -code)
    result = None if ending is not None else _result(folder, token)
    if ending is None:
        ending = "oom" if result is not None and "oom" in result else "ok" if code == 0 and result else "crash"
    kept = result if ending == "ok" else None
    return Outcome(ending, status, number, wall_s, printed, kept)


def _result(folder: Path, token: str) -> Mapping[str, Any] | None:
    """Return the child's answer if it carries the job's token."""
    try:
        found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    valid = isinstance(found, dict) and found.get("token") == token and isinstance(found.get("result"), dict)
    return found["result"] if valid else None
