"""Claims about a child that is counted: it is ended past a limit, with the limit in words, and left alone below it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.sandbox.watch import over, watched

pytestmark = pytest.mark.core

_MIB = 1 << 20


@pytest.mark.parametrize(
    ("code", "memory_bytes", "grown_bytes", "said"),
    [
        ("import time; x = b'x' * (200 << 20); time.sleep(600)", 100 * _MIB, 0, "in memory"),
        ("import time; open('big', 'wb').write(b'x' * (60 << 20)); time.sleep(600)", 0, 50 * _MIB, "on disk"),
        ("open('small', 'wb').write(b'x' * (5 << 20))", 1 << 40, 50 * _MIB, ""),
        ("", 0, 0, ""),
    ],
)
def test_a_child_is_ended_past_a_limit(
    tmp_path: Path, code: str, memory_bytes: int, grown_bytes: int, said: str
) -> None:
    """What lies in its folder from before is not counted."""
    (tmp_path / "before").write_bytes(b"x" * (40 << 20))
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    words = watched(child.pid, [tmp_path], memory_bytes, grown_bytes)
    assert (said in words) and bool(words) == bool(said)
    assert child.wait(500) == (-signal.SIGKILL if said else 0)


def test_no_limit_is_none(tmp_path: Path) -> None:
    """Zero counts nothing; one byte is passed by any file."""
    (tmp_path / "file").write_bytes(os.urandom(5000))
    assert over([tmp_path], 0, 0) == ""
    assert over([tmp_path], 0, 1) == "more than 1 bytes on disk"
