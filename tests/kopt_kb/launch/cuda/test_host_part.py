"""What of a PyTorch extension's CUDA C++ is left for a device compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.build import build_cuda
from kopt_kb.launch.cuda.host_part import device_part, missing_header, own_headers, stand_in
from kopt_kb.launch.cuda.nvrtc import compile_cuda

EXTENSION = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cstdint>
#include <vector>
#include "limits.cuh"  // beside it
/* a "comment"; with { braces */
using namespace at;
namespace mine {
#define CHECK(x) TORCH_CHECK(x.is_cuda(), "not CUDA {")
struct TensorList { const void* at[4]; int64_t size; };
template <typename T>
__device__ T twice(T x) { return std::min(x, T(MOST)) * T(2); }

template <typename T>
__global__ void scale(const T* x, T* out, int64_t n) {
  using wide = at::acc_type<T, true>;
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = T(twice(wide(x[at])));
}

template <typename T>
void launch(torch::Tensor x) {
#ifdef ROCM
  scale<T><<<1, 64>>>(nullptr, nullptr, 0);
#endif
}
template void launch<float>(torch::Tensor x);
template <typename T> void run_all(const void* x, int n);
template <typename T> void run_all(const void* x, int n) { cudaStream_t s; scale<T><<<1, 64, 0, s>>>(nullptr, nullptr, n); }
template void run_all<float>(const void* x, int n);
}  // namespace mine
__host__ int blocks(int n) { return n / 64; }
__global__ void plain(at::Half* x) { x[0] = MOST; }
at::Tensor entry(at::Tensor x) { std::vector<int> a; mine::launch<float>(x); return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("entry", &entry, "says } this"); }
TORCH_LIBRARY(mine, m) {
  m.def("entry(Tensor x) -> Tensor");
}
"""
HEADER = '#pragma once\n#include <torch/all.h>\n#define MOST 9\nat::Tensor entry(at::Tensor x);\n#include "more.cuh"\n'


def test_what_only_a_host_takes_is_blanked() -> None:
    """Lines stay in their places; declarations for the device, preprocessor lines and comments do too."""
    left = device_part(EXTENSION)
    assert left.count("\n") == EXTENSION.count("\n")
    assert len(left) == len(EXTENSION)
    for word in ("torch::", "PYBIND11_MODULE(", "TORCH_LIBRARY(", "cudaStream_t", "using namespace", "blocks", "<<<"):
        assert word not in left, word
    for word in (
        "twice(wide",
        "#ifdef ROCM",
        "#endif",
        "#define CHECK",
        "void plain",
        "namespace mine {",
        "TensorList",
    ):
        assert word in left, word
    assert left.splitlines().index("#ifdef ROCM") == EXTENSION.splitlines().index("#ifdef ROCM")


@pytest.mark.parametrize("mark", ["C10_DEVICE", "C10_HOST_DEVICE"])
def test_a_helper_with_a_mark_of_pytorch_stays(mark: str) -> None:
    """Though it names what hosts have."""
    source = "#include <c10/macros/Macros.h>\n"
    helper = f"{mark} float safe(float x) {{ TORCH_CHECK(x > 0); return x; }}\n"
    assert device_part(source + helper) == source + helper


def test_a_file_that_is_no_extension_stays_as_it_is() -> None:
    """Whatever its host part has; a whole program is not PyTorch's."""
    plain = EXTENSION.partition("#include <cstdint>")[2]
    assert device_part(plain) == plain
    assert own_headers(plain, []) == {}


def test_headers_of_its_own_are_cut_too(tmp_path: Path) -> None:
    """Those that include PyTorch's, by the names that they are included by; others are the compiler's."""
    (tmp_path / "limits.cuh").write_text(HEADER)
    (tmp_path / "more.cuh").write_text("#pragma once\n")
    found = own_headers(EXTENSION, [tmp_path])
    assert [*found] == ["limits.cuh"]
    assert "at::Tensor" not in found["limits.cuh"][0] and "#define MOST 9" in found["limits.cuh"][0]


def test_headers_that_no_device_compiler_has_are_stood_in_for() -> None:
    """PyTorch's by what kernels take from them, C++'s by CUDA's own where there is one."""
    assert "using Half" in (stand_in("c10/util/Half.h") or "")
    assert "cuda/std/limits" in (stand_in("limits") or "")
    assert "uint8_t" in (stand_in("stdint.h") or "") and "FLT_MAX" in (stand_in("float.h") or "")
    assert stand_in("vector") == "#pragma once\n"
    assert stand_in("mine.cuh") is None and stand_in("torch") is None
    assert missing_header('a.cu(1): catastrophic error: cannot open source file "x.h"') == "x.h"
    assert missing_header("a.cu(1): error: no") == ""


def test_an_error_in_its_own_header_stands_there(tmp_path: Path, nvrtc: str) -> None:
    """Not in the text that was compiled in its place."""
    (tmp_path / "own.cuh").write_text("#include <ATen/x.h>\n#error no\n")
    with pytest.raises(CompileFailed, match="no") as refused:
        compile_cuda('#include "own.cuh"\n#include <torch/all.h>\n', str(tmp_path / "a.cu"), 90)
    assert refused.value.where == f"{tmp_path}/own.cuh:2"


def test_the_kernels_of_an_extension_compile(tmp_path: Path, nvrtc: str) -> None:
    """A template by its arguments; a folder of headers is given, and asked for by the place of the include."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "limits.cuh").write_text(HEADER)
    (tmp_path / "own" / "more.cuh").write_text("#pragma once\n")
    file = tmp_path / "scale.cu"
    file.write_text(EXTENSION)
    case = KernelCase(str(file), "mine::scale<__half>", options={"include": str(tmp_path / "own")})
    target = CompileTarget.parse("sm_90")
    (made,) = build_cuda(CompileRequest(case, "sm_90", disassemble=False), target)
    assert "scale" in made.name
    alone = KernelCase(str(file), "mine::scale<__half>")
    with pytest.raises(CompileFailed, match=r"limits.cuh.*include=DIR") as refused:
        build_cuda(CompileRequest(alone, "sm_90", disassemble=False), target)
    assert refused.value.where == f"{file}:5"
