"""Claims about mounts: /proc shows no other process, and a kernel without mount_setattr gives the same read-only tree."""

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
from kopt_kb.sandbox import cage, kernel, tree
from kopt_kb.sandbox.canary import Canary
invoke = tree.invoke
def old_kernel(name, number, *words):
    if number == tree._SET_ATTRIBUTES:
        raise OSError(38, "Function not implemented")
    return invoke(name, number, *words)
tree.invoke = old_kernel
canary = Canary(())
around = cage.enter()
if os.fork() == 0:
    held = around + cage.settle(cage.Room([Path(sys.argv[1])]), canary)
    print(set(cage.WALLS) - set(held.held), dict(held.missing), sep="\\n", flush=True)
    if cage.PROC in held.held:
        print(sorted(int(one) for one in os.listdir("/proc") if one.isdigit()) == [1], flush=True)
    os._exit(0)
os.wait()
canary.end()
"""


def test_an_older_kernel_holds_the_same_walls(tmp_path: Path) -> None:
    """Mount by mount in place of all at once; the only process that it sees is its own."""
    done = subprocess.run(
        [sys.executable, "-c", _TRY, str(tmp_path)], env=environment(ours=True), capture_output=True, text=True,
        timeout=600, check=True,
    )  # fmt: skip
    said = done.stdout.splitlines()
    if "own file tree" in said[1]:
        pytest.skip(f"no mounts here: {said[1]}")
    assert said[0] == "set()" and said[2:] in ([], ["True"])
