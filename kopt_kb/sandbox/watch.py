"""Waits for a child, and ends it when what it and its own hold of memory and disk passes a limit."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kopt_kb.sandbox.used import below, disk_bytes, held_bytes

__all__ = ["COUNTED", "over", "watched"]

COUNTED = "counted memory and disk"
"""How an isolation names this: it needs no control groups."""

_STEP_S, _SHARE = 0.2, 20
"""Seconds between two looks; how much longer than a look the time until the next is at least."""


def over(folders: Sequence[Path], memory_bytes: int, disk_limit_bytes: int) -> str:
    """Return which limit the descendants of this process pass, in words; empty where they pass none.

    Args:
        folders: Where they may write.
        memory_bytes: Most bytes of memory and of files without a name; 0: no limit.
        disk_limit_bytes: Most bytes below the folders; 0: no limit.
    """
    if memory_bytes and held_bytes(below(os.getpid()), memory_bytes) > memory_bytes:
        return f"more than {memory_bytes} bytes in memory and in files without a name"
    if disk_limit_bytes and disk_bytes(folders) > disk_limit_bytes:
        return f"more than {disk_limit_bytes} bytes on disk"
    return ""


def watched(child: int, folders: Sequence[Path], memory_bytes: int, grown_bytes: int) -> str:
    """Wait until a child of this process ends; end it past a limit and return which, in words.

    Args:
        child: Its process id; it is not collected.
        folders: Where it may write.
        memory_bytes: As for `over`.
        grown_bytes: Most bytes that the folders may grow by; 0: no limit.
    """
    if not (memory_bytes or grown_bytes):
        return ""
    most = disk_bytes(folders) + grown_bytes if grown_bytes else 0
    poll = select.poll()
    ending = os.pidfd_open(child)
    poll.register(ending, select.POLLIN)
    pause_s = _STEP_S
    try:
        while not poll.poll(pause_s * 1000):
            begin = time.monotonic()
            if passed := over(folders, memory_bytes, most):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                return passed
            pause_s = max(_STEP_S, _SHARE * (time.monotonic() - begin))
    finally:
        os.close(ending)
    return ""
