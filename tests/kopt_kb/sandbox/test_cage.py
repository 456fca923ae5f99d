"""Claims about what keeps a child inside; with namespaces they are made of the whole maker in kopt_kb/launch/record/test_serve."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.base.wire import plain, read
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.process import environment

pytestmark = pytest.mark.core

_ORPHANS = """
import os, sys, time
from kopt_kb.sandbox.cage import adopt_orphans, end_all
adopt_orphans()
parents = []
for _ in range(3):
    parents.append(os.fork())
    if not parents[-1]:
        os.setsid()
        for _ in range(2):
            if not os.fork():
                os.setsid()
                time.sleep(600)
        os._exit(0)
from kopt_kb.sandbox.used import below
for pid in parents:
    os.waitpid(pid, 0)
before = len(below(os.getpid()))
print(before, end_all(), len(below(os.getpid())))
"""


def _printed(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=environment(ours=True),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout.strip()


def test_orphans_in_sessions_of_their_own_are_ended() -> None:
    """Six grandchildren whose parents are gone: adopted, killed, none left."""
    assert _printed(_ORPHANS) == "6 True 0"


def test_without_a_canary_no_wall_is_called_held(tmp_path: Path) -> None:
    """What could not be tried is said so, whatever stands."""
    text = f"""
from pathlib import Path
from kopt_kb.sandbox.cage import Room, settle
from kopt_kb.sandbox.isolation import WALLS
said = settle(Room([Path({str(tmp_path)!r})]))
print(set(WALLS) & set(said.held), {{said.missing[one] for one in WALLS}})
"""
    assert _printed(text) == "set() {'could not be tried'}"


def test_memory_and_files_are_bounded(tmp_path: Path) -> None:
    """Beyond what the process has already; a larger file is an error of the write."""
    text = f"""
from pathlib import Path
from kopt_kb.sandbox.cage import Room, settle
settle(Room([Path({str(tmp_path)!r})], memory_bytes=1 << 26, file_bytes=1 << 16))
for what in (lambda: bytearray(1 << 28), lambda: Path({str(tmp_path / "big")!r}).write_bytes(b"x" * (1 << 17))):
    try:
        what()
        print("done")
    except (MemoryError, OSError) as error:
        print(type(error).__name__)
"""
    assert _printed(text).split() == ["MemoryError", "OSError"]


def test_isolation_is_a_document() -> None:
    """What was held and what was missing are read back equal."""
    one = Isolation(("pid namespace",), {"net namespace": "Operation not permitted"})
    assert read(Isolation, plain(one)) == one
