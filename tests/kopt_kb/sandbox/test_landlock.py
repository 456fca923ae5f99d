"""Claims about Landlock alone: what is listed can be read, what may be written can, devices too, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.sandbox.process import environment

pytestmark = pytest.mark.core

_TRY = """
import os, sys
from pathlib import Path
from kopt_kb.sandbox.landlock import restrict
top = Path(sys.argv[1])
try:
    restrict(["/usr", "/lib", str(top / "read"), str(top / "file")], [str(top / "write"), "/dev/null"], listed=[str(top)])
except OSError as error:
    print("unavailable:", error)
    raise SystemExit
tries = [
    lambda: (top / "read" / "a").read_text(), lambda: (top / "file").read_text(), lambda: (top / "write" / "b").write_text("x"),
    lambda: open("/dev/null", "w").write("x"), lambda: os.listdir(top / "hidden"),
    lambda: (top / "hidden" / "a").read_text(), lambda: (top / "read" / "a").write_text("x"),
    lambda: (top / "file").write_text("x"), lambda: (top / "read" / "a").unlink(), lambda: os.listdir("/etc"),
]
for one in tries:
    try:
        one()
        print("1", end="")
    except OSError:
        print("0", end="")
"""


def test_what_is_listed_is_all(tmp_path: Path) -> None:
    """Reading, writing and listing, each where it is allowed and where not."""
    for name in ("read", "write", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("a")
    (tmp_path / "file").write_text("f")
    done = subprocess.run(
        [sys.executable, "-c", _TRY, str(tmp_path)], env=environment(ours=True), capture_output=True, text=True,
        timeout=600, check=True,
    )  # fmt: skip
    if done.stdout.startswith("unavailable"):
        pytest.skip(f"no Landlock here: {done.stdout}")
    assert done.stdout == "1111100000"
