"""Claims about read-only mounts: only the named folders can be written, and /proc shows no other process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.sandbox.process import environment

_TRY = """
import os, sys
from pathlib import Path
from kopt_kb.sandbox import cage
def no_landlock(folders):
    raise OSError(38, "taken away")
cage._landlock = no_landlock
around = cage.enter()
if not {"user namespace", "pid namespace"} <= set(around.held):
    print("unavailable:", dict(around.missing))
    raise SystemExit
if os.fork() == 0:
    held = cage.settle([Path(sys.argv[1])])
    print(cage._FILES in held.held or dict(held.missing), flush=True)
    for place in (sys.argv[1], sys.argv[2], str(Path.home()), "/dev/shm"):
        try:
            Path(place, "written").write_text("x")
            print("wrote", flush=True)
        except OSError as error:
            print(error.strerror, flush=True)
    if cage._PROC in held.held:
        print(sorted(int(one) for one in os.listdir("/proc") if one.isdigit()) == [1], flush=True)
    os._exit(0)
os.wait()
"""


def test_without_landlock_mounts_hold_files(tmp_path: Path) -> None:
    """Its own folder takes a file; another, the home and shared memory do not."""
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _TRY, str(tmp_path / "mine"), str(tmp_path / "other")], env=environment(ours=True),
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    said = done.stdout.splitlines()
    if said and said[0].startswith("unavailable"):
        pytest.skip(f"no namespaces here: {said[0]}")
    assert said[:5] == ["True", "wrote", *["Read-only file system"] * 3]
    assert said[5:] in ([], ["True"])
