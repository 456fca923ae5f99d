"""A small CUDA C++ launcher on disk, and machine code that Triton's assembler makes of PTX."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.compile.disassemble import tool
from kopt_kb.launch.cuda.nvrtc import nvrtc_version

SCALE = """/* kb
op = "elementwise"
shape = "Nx..."
dtypes = ["bf16", "fp32"]
config = { THREADS = 128 }

[tuning_space]
THREADS = [64, 128]

[inputs]
x = "[elements]"
y = "[elements]"

[outputs]
out = "[elements]"

[scratch]
half = "fp32[elements]"

[let]
BLOCKS = "cdiv(elements, THREADS)"

[[steps]]
fill = "half"
value = 1.5

[[steps]]
launch = "twice<{T}, {THREADS}>"
grid = ["BLOCKS"]
block = ["THREADS"]
arguments = ["x", "half", "i64 elements", "fp32 0.5"]

[[steps]]
launch = "joined<{T}>"
grid = ["BLOCKS"]
block = ["THREADS"]
shared = "4 * THREADS"
arguments = ["half", "y", "out", "i64 elements", "null"]
*/
#include <cuda_bf16.h>

template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS) twice(const T* x, float* half, long long count, float factor) {
  const long long at = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
  if (at < count) half[at] += static_cast<float>(x[at]) * factor * 2.0f;
}

template <typename T>
__global__ void joined(const float* half, const T* y, T* out, long long count, int* unused) {
  extern __shared__ float own[];
  const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (at < count) own[threadIdx.x] = half[at];
  if (at < count) out[at] = static_cast<T>(own[threadIdx.x] + static_cast<float>(y[at]));
}
"""

PTX = """
.version 8.0
.target {target}
.address_size 64

.visible .global .align 4 .u32 counter;
.global .align 4 .b32 table[4] = {{1, 2, 3, 4}};

.visible .entry first(.param .u64 out, .param .u32 count, .param .u8 flag) .maxntid 96, 1, 1
{{
    .reg .u64 %rd<4>;
    .reg .u32 %r<8>;
    .shared .align 4 .b8 held[400];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    st.shared.u32 [held], %r1;
    bar.sync 0;
    ld.shared.u32 %r2, [held];
    atom.global.add.u32 %r3, [counter], %r2;
    ld.global.u32 %r4, [table];
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd1], %r3;
    ret;
}}

.visible .entry second(.param .u64 out) .reqntid 64, 2, 1
{{
    ret;
}}
"""


@pytest.fixture
def nvrtc() -> str:
    """The compiler's version; the test is skipped where it is not installed."""
    try:
        return nvrtc_version()
    except MissingTool as error:
        pytest.skip(f"{error.what}: {error.fix}")


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    """A launcher of a fill and two kernels."""
    path = tmp_path / "scale.cu"
    path.write_text(SCALE)
    return path


@pytest.fixture
def assembled(tmp_path: Path) -> Callable[[str], bytes]:
    """Assembles the PTX above for a target."""
    pytest.importorskip("triton")

    def make(target: str) -> bytes:
        (tmp_path / "some.ptx").write_text(PTX.format(target=target))
        command = [str(tool("ptxas")), f"-arch={target}", "some.ptx", "-o", "some.cubin"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        return (tmp_path / "some.cubin").read_bytes()

    return make


@pytest.fixture
def device() -> Any:
    """The class of the device in memory that records are replayed on."""
    path = Path(__file__).resolve().parents[1] / "record" / "conftest.py"
    spec = importlib.util.spec_from_file_location("record_conftest", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BytesDevice
