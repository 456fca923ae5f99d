"""Claims about CUDA C++ compiled again: real NVRTC, no GPU."""

from __future__ import annotations

from pathlib import Path

import kopt_kb.kernels
from kopt_kb.launch.recompile.cuda_source import recompile_cuda
from kopt_kb.launch.recompile.job import RecompileJob
from kopt_kb.launch.record.code_request import CodeRequest
from tests.kopt_kb.launch.cuda.conftest import nvrtc  # noqa: F401 - a fixture

FILE = Path(kopt_kb.kernels.__path__[0]).resolve() / "cuda" / "softmax.cu"
ASKED = {"shape": [64, 1024], "dtype": "bf16", "config": {}}


def job(folder: Path, file: Path = FILE, **changed: object) -> RecompileJob:
    """Return a job for a file below its own folder."""
    request = CodeRequest("CUDA", str(file), "", "", constants={**ASKED, **changed})
    return RecompileJob((request,), "sm_90", (str(FILE.parent),), "Test", {"multi_processor_count": 132}, str(folder))


def test_a_file_is_compiled_by_its_header(tmp_path: Path, nvrtc: str) -> None:  # noqa: F811
    """Into a code object beside the job; NVRTC is the one that the fixture found."""
    assert nvrtc
    made, _ = recompile_cuda(job(tmp_path), [0])
    first = made[0]
    code = (tmp_path / first.output).read_bytes()
    assert (first.reason, code[:4], list(first.files)) == (None, b"\x7fELF", [str(FILE)])


def test_another_folder_another_shape_and_another_language_are_refused(tmp_path: Path) -> None:
    """In words, never with an exception."""
    own = tmp_path / "k.cu"
    own.write_text("// nothing\n")
    for one, reason in ((job(tmp_path, own), "outside"), (job(tmp_path, dtype="int5"), "compiler")):
        (found,) = recompile_cuda(one, [0])[0].values()
        assert found.reason == reason
