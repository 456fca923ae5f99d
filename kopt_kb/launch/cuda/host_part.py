"""Cuts what only a host compiler takes from CUDA C++ of a PyTorch extension: bindings, launchers, their headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["device_part", "missing_header", "own_headers", "stand_in", "stand_ins"]

_OF_TORCH = re.compile(r'#[ \t]*include[ \t]*[<"](?:torch|ATen|c10|pybind11)/')
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_HOST = re.compile(
    r"\b(?:at|torch|c10|py|pybind11)::(?!Half\b|BFloat16\b|acc_type\b|opmath_type\b)|\b(?:TORCH_|PYBIND11_|AT_|C10_CUDA_)\w+\s*\("
    r"|<<<|\bcuda[A-Z]\w*\s*\(|\bcudaStream_t\b|\bTensor(?:\s+\w|\s*&)|\bPyObject\b|\bcublas\w+|\bthrow\b"
    r"|\bstd::(?:vector|string|cout|cerr|map|unordered_map|optional|function|ostream|runtime_error)\b"
    r"|\busing\s+namespace\s+(?:at|torch|c10)\b|\bnamespace\s+py\s*=|\bint\s+main\s*\(|\b__host__\b"
)  # fmt: skip
_DEVICE = re.compile(r"__(?:global|device|constant|shared)__|\bC10_(?:HOST_)?DEVICE\b")
_SCOPE = re.compile(r'(?:inline\s+)?namespace\b[\w\s:]*|extern\s*"C"\s*')
_FUNCTION = re.compile(r"\b(?P<name>\w+)\s*(?:<[^(){};]*>\s*)?\(")
_INSTANTIATION = re.compile(r"\s*template\s+(?!<)")
_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#(?:[^\n]*\\\r?\n)*[^\n]*|[{};]",
    re.DOTALL | re.MULTILINE,
)
_MISSING = re.compile(r'(?:could not|cannot) open source file "(?P<name>[^"]+)"')

_INTEGERS = "#pragma once\n#include <cuda/std/cstdint>\n" + "".join(
    f"using cuda::std::{sign}int{bits}_t;\n" for sign in ("", "u") for bits in (8, 16, 32, 64)
)
_TORCH = f"""#ifndef KOPT_OF_TORCH
#define KOPT_OF_TORCH
{_INTEGERS}#include <cuda/std/algorithm>
#include <cuda/std/initializer_list>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
namespace std {{ using namespace cuda::std; }}
namespace c10 {{ using Half = __half; using BFloat16 = __nv_bfloat16; }}
namespace at {{
using c10::Half; using c10::BFloat16;
template <typename T, bool is_cuda> struct AccumulateType {{ using type = float; }};
template <bool is_cuda> struct AccumulateType<double, is_cuda> {{ using type = double; }};
template <bool is_cuda> struct AccumulateType<int, is_cuda> {{ using type = int64_t; }};
template <bool is_cuda> struct AccumulateType<int64_t, is_cuda> {{ using type = int64_t; }};
template <typename T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;
template <typename T> using opmath_type = acc_type<T, true>;
}}
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_ALWAYS_INLINE inline
#define C10_LAUNCH_BOUNDS_1(most) __launch_bounds__(most)
#define C10_LAUNCH_BOUNDS_2(most, least) __launch_bounds__(most, least)
#define TORCH_CHECK(...)
#define __asm__ asm
#define gpuAtomicAdd atomicAdd
#define gpuAtomicAddNoReturn atomicAdd
#define WARP_SHFL(value, lane, ...) __shfl_sync(0xffffffff, value, lane, ##__VA_ARGS__)
#define WARP_SHFL_XOR(value, mask, ...) __shfl_xor_sync(0xffffffff, value, mask, ##__VA_ARGS__)
#define WARP_SHFL_UP(value, by, ...) __shfl_up_sync(0xffffffff, value, by, ##__VA_ARGS__)
#define WARP_SHFL_DOWN(value, by, ...) __shfl_down_sync(0xffffffff, value, by, ##__VA_ARGS__)
#endif
"""
"""What kernels of extensions take from PyTorch's headers."""

_LIMITS = """#pragma once
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
"""
_TEXTS = {
    **dict.fromkeys(("cstdint", "stdint.h"), _INTEGERS),
    **dict.fromkeys(("cfloat", "climits", "float.h", "limits.h"), _LIMITS),
}
_DEVICE_STD = frozenset(
    {
        "algorithm", "array", "cmath", "complex", "cstddef", "functional", "initializer_list", "limits", "numeric",
        "tuple", "type_traits", "utility",
    }
)  # fmt: skip
"""Headers of C++ that CUDA's own library has for device code."""

_HOST_STD = frozenset(
    {
        "assert.h", "cassert", "chrono", "cstdio", "cstdlib", "cstring", "cublas_v2.h", "cublasLt.h", "exception",
        "fstream", "iomanip", "iostream", "list", "map", "math.h", "memory", "mutex", "optional", "Python.h",
        "random", "set", "sstream", "stdexcept", "stdio.h", "stdlib.h", "string", "string.h", "string_view",
        "thread", "unordered_map", "unordered_set", "vector",
    }
)  # fmt: skip


def device_part(source: str) -> str:
    """Return a source without declarations that only a host compiler takes; lines stay where they were.

    A declaration outside functions goes where it names PyTorch, the run-time library, or what C++ has for hosts alone,
    and nothing in it is for the device. A source that includes no header of PyTorch is returned as it is.
    """
    if not _OF_TORCH.search(source):
        return source
    kept, begin, depth, passed, gone = list(source), 0, 0, list[tuple[int, int]](), set[str]()
    for token in _TOKEN.finditer(source):
        text = token[0].lstrip()
        if text[0] in "/#":
            passed.append(token.span())
        if text not in {"{", "}", ";"}:
            continue
        if text == "{" and not depth and _SCOPE.fullmatch(_plain(source, begin, token.start(), passed).strip()):
            begin = token.end()
            continue
        is_scope = text == "}" and not depth
        depth += {"{": 1, "}": -1, ";": 0}[text] if not is_scope else 0
        if depth == 0:
            if not is_scope:
                _cut_host(kept, source, (begin, token.end()), passed, gone)
            begin, passed = token.end(), []
    return "".join(kept)


def own_headers(source: str, folders: Sequence[Path]) -> dict[str, tuple[str, Path]]:
    """Return the headers that a source of an extension includes by quotes, and theirs: name → device part and file."""
    found: dict[str, tuple[str, Path]] = {}
    waiting = [(name, folders) for name in _QUOTED.findall(source)] if _OF_TORCH.search(source) else []
    while waiting:
        name, places = waiting.pop()
        file = next((one / name for one in places if (one / name).is_file()), None)
        if file is not None and name not in found:
            text = file.read_text(encoding="utf-8", errors="replace")
            found[name] = device_part(text), file
            waiting += [(inner, (file.parent, *folders)) for inner in _QUOTED.findall(text)]
    return {name: one for name, one in found.items() if _OF_TORCH.search(one[0])}


def _plain(source: str, begin: int, end: int, passed: list[tuple[int, int]]) -> str:
    """Return text without the comments and preprocessor lines in it."""
    parts, at = [], begin
    for one, two in passed:
        if begin <= one < end:
            parts.append(source[at:one])
            at = two
    return "".join([*parts, source[at:end]])


def _cut_host(
    kept: list[str], source: str, place: tuple[int, int], passed: list[tuple[int, int]], gone: set[str]
) -> None:
    """Blank a declaration that is the host's; preprocessor lines in it stay, so that their branches close.

    `gone` are the functions that went before: their explicit instantiations go too.
    """
    text = _plain(source, *place, passed)
    named, again = _FUNCTION.search(text), _INSTANTIATION.match(text)
    if _DEVICE.search(text) or not (_HOST.search(text) or (again and named and named["name"] in gone)):
        return
    if named:
        gone.add(named["name"])
    stay = [(one, two) for one, two in passed if source[one:two].lstrip().startswith("#")]
    for at in range(*place):
        if source[at] not in "\r\n" and not any(one <= at < two for one, two in stay):
            kept[at] = " "


def stand_ins(sources: Iterable[str]) -> dict[str, str]:
    """Return what stands in for the headers that an extension's sources include; the compiler names any others."""
    names = dict.fromkeys(name for one in sources if _OF_TORCH.search(one) for name in _INCLUDED.findall(one))
    return {name: text for name in names if (text := stand_in(name)) is not None}


def missing_header(log: str) -> str:
    """Return the header that a compiler did not find; empty where it was something else."""
    found = _MISSING.search(log)
    return found["name"] if found else ""


def stand_in(name: str) -> str | None:
    """Return what is compiled in place of a header that no device compiler has; None for a file of somebody's own."""
    if name.split("/", maxsplit=1)[0] in {"torch", "ATen", "c10", "pybind11"} and "/" in name:
        return _TORCH
    if name in _TEXTS:
        return _TEXTS[name]
    if name in _DEVICE_STD:
        return f"#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace cuda::std; }}\n"
    return "#pragma once\n" if name in _HOST_STD else None
