"""Claims about what keeps a child inside; with namespaces they are made of the whole maker in kopt_kb/launch/record/test_serve."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.base.wire import plain, read
from kopt_kb.sandbox.cage import below, resident_bytes
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
from kopt_kb.sandbox.cage import below
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


def test_a_process_may_write_below_its_folders_only(tmp_path: Path) -> None:
    """Writing, making, removing and linking elsewhere fail, with or without privileges; reading does not."""
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    text = f"""
import os, sys
from pathlib import Path
from kopt_kb.sandbox.cage import settle
top = Path({str(tmp_path)!r})
held = settle([top / "mine"])
if "write-protected files" not in held.held:
    print("missing", held.missing)
    sys.exit()
done = []
for place in ("mine", "other"):
    for one in (
        lambda d: (d / "new").write_text("x"), lambda d: (d / "file").write_text("y"), lambda d: (d / "folder").mkdir(),
        lambda d: (d / "file").unlink(), lambda d: os.symlink("/etc", d / "link"), lambda d: os.truncate(d / "new", 0),
    ):
        try:
            one(top / place)
            done.append("1")
        except OSError:
            done.append("0")
Path(os.devnull).write_text("x")
print("".join(done), (top / "other" / "file").read_text())
"""
    printed = _printed(text)
    if printed.startswith("missing"):
        pytest.skip(printed)
    assert printed == "111111000000 x"


def test_memory_and_files_are_bounded(tmp_path: Path) -> None:
    """Beyond what the process has already; a larger file is an error of the write."""
    text = f"""
from pathlib import Path
from kopt_kb.sandbox.cage import settle
settle([Path({str(tmp_path)!r})], memory_bytes=1 << 26, file_bytes=1 << 16)
for what in (lambda: bytearray(1 << 28), lambda: Path({str(tmp_path / "big")!r}).write_bytes(b"x" * (1 << 17))):
    try:
        what()
        print("done")
    except (MemoryError, OSError) as error:
        print(type(error).__name__)
"""
    assert _printed(text).split() == ["MemoryError", "OSError"]


def test_descendants_are_found_whatever_their_session() -> None:
    """A child and its child; their memory is counted."""
    text = "import os, time\nif not os.fork(): os.setsid()\ntime.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", text])
    try:
        end = time.monotonic() + 500
        while len(found := below(child.pid)) < 1:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert resident_bytes([child.pid, *found]) > 1 << 20
        assert below(found[0]) == []
    finally:
        subprocess.run(["kill", "-9", str(child.pid), *map(str, below(child.pid))], check=True)
        child.wait()


def test_isolation_is_a_document() -> None:
    """What was held and what was missing are read back equal."""
    one = Isolation(("pid namespace",), {"net namespace": "Operation not permitted"})
    assert read(Isolation, plain(one)) == one
