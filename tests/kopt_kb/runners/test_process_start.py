"""Start times of processes."""

from __future__ import annotations

import os
import subprocess
import sys

from kopt_kb.runners.process_start import start_ticks


def test_a_running_process_and_one_that_is_gone() -> None:
    """Ours started before its child; a process that ended and was waited for has no start."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own, later = start_ticks(os.getpid()), start_ticks(child.pid)
    assert own is not None and later is not None and own <= later
    child.communicate(b"\n")
    assert start_ticks(child.pid) is None
