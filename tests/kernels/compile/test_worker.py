"""Claims about the worker's answers."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.kernels.compile import build as build_module
from kopt_kb.kernels.compile.request import CompileFailed, CompileRequest, KernelCase
from kopt_kb.kernels.compile.worker import answer

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
