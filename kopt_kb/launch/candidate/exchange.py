"""How a job reaches the child process of a candidate and its answer comes back: files of one folder, and a token.

The token is in the job alone, which the child removes before it imports a candidate: an answer without it is none.
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import plain, read
from kopt_kb.launch.candidate.answers import Answer, read_answer
from kopt_kb.launch.candidate.job import Request

__all__ = ["QueuedJob", "answered", "child_argv", "give", "reply", "take_job"]

QueuedJob = tuple[str, Request, str]
"""What to do, on what, and the token of the answer."""


def child_argv(folder: Path) -> tuple[str, ...]:
    """Return the command line of the child that does the job of a folder."""
    return (sys.executable, "-P", "-m", "kopt_kb.launch.candidate.child", str(folder))


def give(folder: Path, kind: str, body: Request) -> str:
    """Write a job and return its token."""
    token = secrets.token_hex(16)
    text = json.dumps({"kind": kind, "body": body.to_json(), "token": token})
    (folder / "job.json").write_text(text, encoding="utf-8")
    return token


def take_job(folder: Path) -> QueuedJob:
    """Return the job of a folder, and remove it."""
    file = folder / "job.json"
    job = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return job["kind"], read(Request, job["body"], where="job.json"), job["token"]


def reply(folder: Path, token: str, result: Answer) -> None:
    """Put an answer into place, whole or not at all."""
    partial = folder / "result.json.partial"
    partial.write_text(json.dumps({"token": token, "result": plain(result)}), encoding="utf-8")
    partial.rename(folder / "result.json")


def answered(folder: Path, kind: str, token: str) -> Answer | None:
    """Return the child's answer to a job of a kind if it carries the job's token and is one."""
    try:
        found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("token") != token:
        return None
    try:
        return read_answer(kind, found.get("result"))
    except BadInput:
        return None
