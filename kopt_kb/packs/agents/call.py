"""A call: the command in a child of its own, its progress while it runs, its document at the end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.agents import codes
from kopt_kb.sandbox.process import Child, environment
from kopt_kb.sandbox.trust import UNATTENDED

__all__ = ["Say", "ToolAnswer", "ask"]

_PROGRAM = (sys.executable, "-P", "-m", "kopt_kb")

Say = Callable[[float, str], Awaitable[None]]
"""Told of progress: seconds since the begin, and a line."""

_FIRST_PAUSE_S, _PAUSE_S = 0.005, 0.1
_BEAT_S = 2.0
"""Without a line of its own, a call says this often that it runs."""
_GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a command printed.

    Attributes:
        document: Its JSON.
        code: Its exit code: 1 where the check found something, 2 and more where it was refused.
    """

    document: Mapping[str, object]
    code: int

    @property
    def is_refused(self) -> bool:
        """Whether the document is an error in place of an answer."""
        return set(self.document) == {"error", "data"}


async def ask(words: Sequence[str], folder: Path, say: Say) -> ToolAnswer:
    """Run a command to its end; when the caller is cancelled, end it and all it started.

    Args:
        words: Of the command line of kb, `--json` among them.
        folder: Where it runs.
        say: Told of its progress.

    Raises:
        KoptError: It can't be started, or ended without a document.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            child = Child(
                [*_PROGRAM, *words],
                env=environment({UNATTENDED: "mcp"}, ours=True),
                folder=folder,
                stdout=out,
                stderr=err,
            )
        except OSError as error:
            what, fix = f"it can't be started: {error.strerror}", "give fewer or shorter words"
            raise KoptError(what, where=f"kb {words[0]}", fix=fix, code="KB126") from error
        try:
            await _watch(child, err, say)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(child.end, _GRACE_S))
            raise
        finally:
            code = child.end()
        return _answer(words, code, _read(out), _read(err))


async def _watch(child: Child, err: IO[bytes], say: Say) -> None:
    """Wait for the child; pass on what it says on stderr, a line or nothing at a time."""
    begin = said = time.monotonic()
    seen, pause_s = 0, _FIRST_PAUSE_S
    while not child.has_ended():
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _PAUSE_S)
        lines = _read(err, seen)
        whole = lines[: lines.rfind(b"\n") + 1]
        seen += len(whole)
        now = time.monotonic()
        if whole or now - said >= _BEAT_S:
            said = now
            last = whole.decode(errors="replace").rstrip().rpartition("\n")[2].removeprefix("kb: ")
            await say(now - begin, last or f"running for {now - begin:.0f} s")


def _read(file: IO[bytes], begin: int = 0) -> bytes:
    """Return what a file holds from a place on, at an offset of our own: the child writes at the shared one."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), max(0, size - begin), begin)


def _answer(words: Sequence[str], code: int, out: bytes, err: bytes) -> ToolAnswer:
    try:
        document = json.loads(out)
    except ValueError:
        document = None
    if isinstance(document, dict):
        return ToolAnswer(document, code)
    last = err.decode(errors="replace").strip().rpartition("\n")[2][:300]
    how = f"signal {-code}" if code < 0 else f"status {code}"
    what, fix = f"the command ended with {how} and no document", last or "call it again"
    raise KoptError(what, where=f"kb {words[0]}", fix=fix, code=codes.NO_DOCUMENT)
