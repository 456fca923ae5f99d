"""Files that packs of header languages record: an addition, whose kernel is called as its language calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.cuda.launches import record_cuda
from kopt_kb.launch.cuda.nvrtc import compile_cuda, nvrtc_version
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.request import MakerRequest, OpRequest

HEADER = """
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
language = "LANGUAGE"
function = "add_of.py:add"
config = { THREADS = 128 }
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "add_kernel"
grid = ["elements // (EACH * THREADS)"]
block = ["THREADS"]
arguments = ["x", "y", "out"]
"""
SOURCE = """
extern "C" __global__ void NAME(const float* x, const float* y, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + y[threadIdx.x];
}
"""
RecordHeader = Callable[[str, str, int], LaunchRecord]


@pytest.fixture
def nvrtc() -> str:
    """The compiler's version; the test is skipped where it is not installed."""
    try:
        return nvrtc_version()
    except MissingTool as error:
        pytest.skip(f"{error.what}: {error.fix}")


@pytest.fixture
def record_header(tmp_path: Path) -> RecordHeader:
    """Records an addition of a language (its header's word, its Python, elements a thread) and checks the record."""

    def made(language: str, source: str, each: int) -> LaunchRecord:
        (tmp_path / "add_of.py").write_text(source)
        file = tmp_path / "add.toml"
        file.write_text(HEADER.replace("LANGUAGE", language).replace("EACH", str(each)))
        what = OpRequest(str(file), (65536,), "fp32")
        record = record_cuda(MakerRequest(what, "sm_90", "Test", {}, str(tmp_path)), what)
        check_record(record, "record")
        for digest in record.codes:
            check_code((tmp_path / digest).read_bytes(), "sm_90", "code")
        return record

    return made


@pytest.fixture
def cuda_code(nvrtc: str) -> Callable[[str], bytes]:
    """Compiles the addition under a symbol."""
    return lambda symbol: compile_cuda(SOURCE.replace("NAME", symbol), "k.cu", 90).cubin


@pytest.fixture
def cuda_source() -> Callable[[str], str]:
    """The addition's CUDA C++ under a symbol."""
    return lambda symbol: SOURCE.replace("NAME", symbol)
