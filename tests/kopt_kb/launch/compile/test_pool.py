"""Claims about compile workers: limits are enforced and a dead worker is replaced."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile import pool as pool_module
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase
from kopt_kb.sandbox.talk import Silent

pytestmark = pytest.mark.triton
MIB = 1 << 20


def request(path: Path, body: str) -> CompileRequest:
    """A request whose file runs this body when it is imported."""
    path.write_text(body)
    return CompileRequest(KernelCase(str(path), "k"), "sm_80")


def test_an_overrunning_compilation_is_killed(tmp_path):
    """The job ends at its limit with an error that says so, and the pool goes on."""
    with CompilePool(time_limit_s=0.5, start_limit_s=0.0) as pool:
        with pytest.raises(CompileFailed, match=r"ran past 0\.5 s") as caught:
            pool.compile(request(tmp_path / "slow.py", "import time\ntime.sleep(60)\n"))
        assert caught.value.kind == "time_limit"


@pytest.mark.parametrize(("name", "most_s"), [("one.cu", 7.0), ("one.py", 61.0)], ids=["CUDA", "Python"])
def test_a_compiler_alone_has_no_minute_to_start(name: str, most_s: float, tmp_path, monkeypatch) -> None:
    """A first job's limit holds imports of Triton and torch, which CUDA C++ does without."""
    asked_s: list[float] = []

    class Never:
        def say(self, _: bytes, within_s: float) -> None:
            asked_s.append(within_s)
            raise Silent("does not answer", gone=False)

    worker = pool_module._Worker(0)
    monkeypatch.setattr(worker, "_start", Never)
    found = worker.run(CompileRequest(KernelCase(str(tmp_path / name), "k"), "sm_90"), 1.0, 60.0)
    assert isinstance(found, CompileFailed)
    assert found.kind == "time_limit"
    assert "--run-s" in found.fix
    assert most_s - 1 < asked_s[0] <= most_s


def test_no_job_goes_on_behind_the_end(tmp_path):
    """Neither a limit of its own nor the seconds that a first job has for imports are added to what is left."""
    with CompilePool(ends_at=time.monotonic() + 0.5) as pool:
        for what in (r"ran past 0\.", "no time is left"):
            with pytest.raises(CompileFailed, match=what) as caught:
                pool.compile(request(tmp_path / "slow.py", "import time\ntime.sleep(9)\n"))
            assert caught.value.kind == "time_limit"


def test_a_crash_is_told_and_the_next_job_runs(tmp_path, pool):
    """An abort in foreign code kills the worker only."""
    pytest.importorskip("triton")
    with pytest.raises(CompileFailed, match="SIGABRT") as caught:
        pool.compile(request(tmp_path / "crash.py", "import os\nos.abort()\n"))
    assert caught.value.kind == "crash"
    with pytest.raises(BadInput, match="no @triton.jit kernel in the file"):
        pool.compile(request(tmp_path / "empty.py", "import triton\n"))


def test_the_memory_limit_is_enforced(tmp_path):
    """An address space of 300 MiB doesn't hold an array of 500 MiB."""
    with CompilePool(memory_limit_bytes=300 * MIB) as pool:
        with pytest.raises(CompileFailed) as caught:
            pool.compile(request(tmp_path / "big.py", "x = bytearray(500 << 20)\n"))
        assert caught.value.kind == "memory_limit"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1 / 0\n", "import fails: ZeroDivisionError"),
        ("def f(:\n", "import fails: SyntaxError"),
        ("raise SystemExit(3)\n", "import fails: SystemExit"),
        ("print('noise')\nimport sys\nsys.stdout.flush()\n", "no @triton.jit kernel in the file"),
    ],
)
def test_a_file_that_fails_to_import_is_one_line(tmp_path, pool, body, message):
    """Foreign errors are named; foreign prints don't disturb the protocol."""
    with pytest.raises(BadInput, match=message) as caught:
        pool.compile(request(tmp_path / "file.py", body))
    assert "\n" not in str(caught.value)


def test_all_outcomes_come_back_with_their_position(tmp_path):
    """Two workers, three jobs: each outcome names its request."""
    jobs = [request(tmp_path / f"f{n}.py", f"raise ValueError('number {n}')\n") for n in range(3)]
    with CompilePool(2) as pool:
        found = dict(pool.compile_all(jobs))
    assert sorted(found) == [0, 1, 2]
    assert all(f"number {position}" in str(outcome) for position, outcome in found.items())


def test_the_parent_loads_neither_torch_nor_triton():
    """Only the worker pays for them."""
    code = "import sys, kopt_kb.launch.compile\n"
    code += "print({'torch', 'triton'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
