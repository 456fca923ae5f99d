"""Which files of a user's a request shows to the child that imports its launcher."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.record.reads import read_by
from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, ScriptRequest


def _read(what: OpRequest | CallRequest | ScriptRequest) -> set[str]:
    return set(read_by(MakerRequest(what, "sm_90", "Test", {}, "")))


def test_a_request_shows_its_files_and_what_stands_beside_them(tmp_path: Path) -> None:
    """A kernel with its problem, a function of a file, a program with the files of its words; a module none."""
    for name in ("kernels", "problems", "work"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.py").touch()
    kernel, problem, work = (str(tmp_path / name) for name in ("kernels", "problems", "work"))
    asked = OpRequest(f"{kernel}/file.py", (1,), "bf16", problem=f"{problem}/file.py")
    assert _read(asked) == {kernel, problem, f"{kernel}/file.py", f"{problem}/file.py"}
    assert _read(CallRequest(f"{kernel}/file.py:run")) == {kernel, f"{kernel}/file.py"}
    assert _read(CallRequest("package.module:run")) == set()
    program = _read(ScriptRequest(("file.py", "--data", f"{problem}/file.py", "--steps"), work))
    assert {work, f"{work}/file.py", problem} <= program and kernel not in program
