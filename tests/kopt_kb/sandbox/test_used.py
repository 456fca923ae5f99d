"""Claims about what processes hold: memory, files without a name and disk, each counted once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.sandbox.used import below, disk_bytes, held_bytes

pytestmark = pytest.mark.core

_MIB = 1 << 20


def test_descendants_are_found_whatever_their_session() -> None:
    """A child and its child; their memory is counted."""
    text = "import os, time\nif not os.fork(): os.setsid()\ntime.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", text])
    try:
        end = time.monotonic() + 500
        while len(found := below(child.pid)) < 1:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert held_bytes([child.pid, *found]) > 1 << 20
        assert below(found[0]) == []
    finally:
        subprocess.run(["kill", "-9", str(child.pid), *map(str, below(child.pid))], check=True)
        child.wait()


_HELD = """
import mmap, os, sys
how, folder = sys.argv[1:]
if how == "memory file":
    made = [os.memfd_create(str(one)) for one in range(4)]
elif how == "no name":
    made = [os.open(folder, os.O_TMPFILE | os.O_RDWR) for _ in range(4)]
if how == "by a child that is gone":
    kept = mmap.mmap(-1, 200 << 20)
    if not os.fork():
        kept.write(b"x" * (200 << 20))
        os._exit(0)
    os.wait()
else:
    for one in made:
        for _ in range(50):
            os.write(one, b"x" * (1 << 20))
print("up", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["memory file", "no name", "by a child that is gone"])
def test_files_without_a_name_are_counted(tmp_path: Path, how: str) -> None:
    """Four of 50 MiB, in memory or on disk, and 200 MiB that only a process which ended has touched."""
    child = subprocess.Popen(
        [sys.executable, "-c", _HELD, how, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == b"up\n"
        assert 195 * _MIB < held_bytes([child.pid]) < 300 * _MIB
    finally:
        child.communicate()


def test_disk_is_what_files_take(tmp_path: Path) -> None:
    """Folders in folders; a link is no file of its target's size, and holes take nothing."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(os.urandom(_MIB))
    (tmp_path / "a" / "link").symlink_to(tmp_path / "a" / "b" / "file")
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 30)
    assert _MIB <= disk_bytes([tmp_path]) < 2 * _MIB
    assert disk_bytes([tmp_path / "none"]) == 0


def test_what_is_on_no_disk_is_not_walked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command of a project may write in /proc, and is looked at several times a second."""
    looked: list[str] = []
    monkeypatch.setattr(os, "scandir", lambda place, walk=os.scandir: looked.append(place) or walk(place))
    assert disk_bytes([tmp_path, Path("/proc")]) == 0
    assert looked == [str(tmp_path)]
