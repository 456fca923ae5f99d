"""Processes that end with their parent, and end as their own child did: `python lifeline.py PARENT_PID -- COMMAND …`.

As a program it runs one command in the session it was started in. When its parent ends, however that happens, it kills
that session's whole group: an orphan would keep the GPU busy under the next measurement. Standard library only, so that
it runs by its path with nothing of this package on the command's Python path.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["die_with", "end_alike", "main"]

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_NOT_FOUND = 127  # what shells say of a program that is not there


def die_with(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when its parent ends; end now if it has ended already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)


def end_alike(code: int) -> int:
    """End as a child did: by the same signal, else return its status."""
    if code < 0:
        if -code not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _end_group(_: int, __: object) -> None:
    os.killpg(0, signal.SIGKILL)


def main(words: Sequence[str]) -> int:
    """Run the command after `--` and return its status; 127 when it is no program."""
    parent, argv = int(words[0]), list(words[2:])
    signal.signal(signal.SIGTERM, _end_group)
    die_with(parent, signal.SIGTERM)
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    except OSError as error:
        print(f"kb: {argv[0]} can't be run: {error.strerror or error}", flush=True)  # noqa: T201 - the run's log
        return _NOT_FOUND
    return end_alike(child.wait())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
