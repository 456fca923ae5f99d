"""Only the candidate's own kernels are profiled, and a missing profiler is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.candidate.answers import Unable, WatchedLaunches
from kopt_kb.launch.candidate.job import Request
from kopt_kb.launch.candidate.profile import kernel_names, launch_once, ncu_report

SOURCE = "import triton\n\n@triton.jit\ndef a(x): ...\n\n@triton.autotune([])\n@triton.jit\ndef b(x): ...\n\ndef launch(): ...\n"


def test_kernel_names() -> None:
    """Functions that triton.jit decorates, autotuned or not."""
    assert kernel_names(SOURCE.encode()) == ("a", "b")


def test_without_ncu_it_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is given, no exception."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ncu_report(Request(shapes=("1x1",)), tmp_path) == Unable(unavailable="ncu is not on this machine")


def test_a_profiler_that_fails_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last line is kept."""
    tool = tmp_path / "ncu"
    tool.write_text("#!/bin/sh\necho no permission\nexit 3\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "candidate.py").write_text(SOURCE)
    found = ncu_report(Request(shapes=("2x2", "4x4"), dtype="fp32", seeds=(1,)), tmp_path)
    assert found == Unable(unavailable="ncu gave no report (3): no permission")


def test_launch_once_launches(tmp_path: Path) -> None:
    """Enough launches for the profiler to skip the first ones."""
    (tmp_path / "candidate.py").write_text("def make_inputs(*_): return ()\ndef launch(): open('/dev/null').close()\n")
    assert launch_once(Request(shapes=("1x1",), dtype="fp32", seeds=(1,)), tmp_path) == WatchedLaunches(4)
