"""How a job reaches the child process of a candidate and its answer comes back: files of one folder, and a token.

The token is in the job alone, which the child removes before it imports a candidate: an answer without it is none.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Body", "Task", "answered", "child_argv", "give", "reply", "take"]

Body = Mapping[str, Any]
"""What a job works on, or what it answers, as JSON data."""
Task = tuple[str, Body, str]
"""What to do, on what, and the token of the answer."""


def child_argv(folder: Path) -> tuple[str, ...]:
    """Return the command line of the child that does the job of a folder."""
    return (sys.executable, "-P", "-m", "kopt_kb.runners.candidate.child", str(folder))


def give(folder: Path, kind: str, body: Body) -> str:
    """Write a job and return its token."""
    token = secrets.token_hex(16)
    text = json.dumps({"kind": kind, "body": dict(body), "token": token})
    (folder / "job.json").write_text(text, encoding="utf-8")
    return token


def take(folder: Path) -> Task:
    """Return the job of a folder, and remove it."""
    file = folder / "job.json"
    job = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return job["kind"], job["body"], job["token"]


def reply(folder: Path, token: str, result: Body) -> None:
    """Put an answer into place, whole or not at all."""
    partial = folder / "result.json.partial"
    partial.write_text(json.dumps({"token": token, "result": result}), encoding="utf-8")
    partial.rename(folder / "result.json")


def answered(folder: Path, token: str) -> Body | None:
    """Return the child's answer if it carries the job's token."""
    try:
        found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    valid = isinstance(found, dict) and found.get("token") == token and isinstance(found.get("result"), dict)
    return found["result"] if valid else None
