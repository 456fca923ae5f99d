"""Claims about the worker's answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.compile import build as build_module
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase
from kopt_kb.launch.compile.worker import answer
from kopt_kb.sandbox.owned import remove_orphans

pytestmark = pytest.mark.triton
JOB = CompileRequest(KernelCase("file.py", "k"), "sm_80")


@pytest.mark.parametrize(
    ("raised", "expected", "text"),
    [
        (MemoryError(), CompileFailed, "memory limit"),
        (ModuleNotFoundError("No module named 'triton'", name="triton"), MissingTool, "triton is not installed"),
        (ImportError("libtriton.so: failed to map segment from shared object"), CompileFailed, "memory limit"),
        (RuntimeError("two\nlines"), BadInput, "RuntimeError: two lines"),
        (BadInput("as it is"), BadInput, "as it is"),
    ],
)
def test_every_failure_is_an_answer(monkeypatch, raised, expected, text):
    """A worker returns errors of the project, whatever was raised inside."""

    def fail(_):
        raise raised

    monkeypatch.setattr(build_module, "build", fail)
    found = answer(JOB)
    assert isinstance(found, expected)
    assert text in str(found)


def test_a_worker_ends_with_its_parent(tmp_path):
    """kill -9 of the parent ends a worker at once, whatever it does: this one never lets another Python thread run."""
    marker, hanging = tmp_path / "pid", tmp_path / "hang.py"
    hanging.write_text(
        "import os, pathlib, re\n"
        f"pathlib.Path({str(marker)!r} + '.part').write_text(str(os.getpid()))\n"
        f"os.rename({str(marker)!r} + '.part', {str(marker)!r})\n"
        "re.match('(a+)+$', 'a' * 60 + 'b')\n"
    )
    script = f"""
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileRequest, KernelCase
with CompilePool(1, time_limit_s=600) as pool:
    pool.compile(CompileRequest(KernelCase({str(hanging)!r}, "k"), "sm_80"))
"""
    parent = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)})
    _wait(lambda: marker.is_file() or parent.poll() is not None)
    assert parent.returncode is None
    worker = Path("/proc") / marker.read_text() / "stat"
    (left,) = tmp_path.glob("kb-compile-*")
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    _wait(lambda: not _is_running(worker))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path))
        remove_orphans()
    assert not left.exists()


def _wait(done):
    end = time.monotonic() + 500
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def _is_running(stat):
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
