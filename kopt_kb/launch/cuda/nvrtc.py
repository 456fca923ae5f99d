"""CUDA C++ to machine code by NVRTC, NVIDIA's run-time compiler, through ctypes; no GPU and no driver is needed.

The library is found in the wheels `nvidia-cuda-nvrtc` and `nvidia-cuda-nvrtc-cu12` (extra `[cuda]`), then in a CUDA
toolkit. Calls and options as in the NVRTC documentation, sections Compilation and Supported Compile Options.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.compile.request import CompileFailed
from kopt_kb.launch.cuda.host_part import device_part, missing_header, own_headers, stand_in, stand_ins

__all__ = ["Compiled", "compile_cuda", "nvrtc_version", "problem_in"]

_LIBRARY = re.compile(r"libnvrtc\.so(?:\.[\d.]+)?")
_ERROR = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<what>.*)$", re.MULTILINE
)
_AT_END = re.compile(r"^At end of source: error(?: #[\w-]+)?: (?P<what>.*)$", re.MULTILINE)
_NAMES = "__nv_name_map"
"""What NVRTC calls the text in which it looks for the entries, after the file."""
_ASSEMBLER = re.compile(r"^ptxas.*?(?:error|fatal)\s*:\s*(?P<what>.*)$", re.MULTILINE)
_FEATURES_FROM = 90
"""From this compute capability on there are features of one architecture alone, which its name with an `a` allows."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled program.

    Attributes:
        cubin: Machine code.
        ptx: PTX text of the same program.
        log: What NVRTC and ptxas said.
        symbols: Kernel as C++ writes it → its symbol.
    """

    cubin: bytes
    ptx: str
    log: str
    symbols: Mapping[str, str]


def compile_cuda(
    source: str, file: str, arch: int, *, entries: Sequence[str] = (), options: Sequence[str] = ()
) -> Compiled:
    """Return the machine code of a CUDA C++ source.

    Args:
        source: The text.
        file: Its path: named in complaints, and its folder is searched for `#include "..."`.
        arch: Compute capability such as 90; its own features are allowed.
        entries: Kernels as C++ writes them, template arguments included.
        options: Further options of NVRTC; folders of `-I` are taken from the file's.

    Raises:
        CompileFailed: The compiler refuses; with file and line of the source.
        MissingTool: NVRTC is not there.
    """
    library = _nvrtc()
    name = f"sm_{arch}{'a' if arch >= _FEATURES_FROM else ''}"
    folders = [Path(file).resolve().parent, *_includes()]
    words = [f"-arch={name}", "--std=c++17", "--ptxas-options=-v", "-default-device", "--extra-device-vectorization"]
    given = [f"-I{folders[0] / one[2:].strip()}" if one.startswith("-I") else one for one in options]
    words += [f"-I{one}" for one in folders] + given
    own = own_headers(source, [*folders[:1], *(Path(one[2:]) for one in given if one.startswith("-I"))])
    headers, text = {name: one for name, (one, _) in own.items()}, device_part(source)
    headers |= stand_ins([source, *headers.values()])
    while True:
        made = _compiled(library, text, file, headers, entries, words)
        if isinstance(made, Compiled):
            return made
        name = missing_header(made)
        found = stand_in(name) if name not in headers else None
        if found is None:
            what, where = problem_in(made, file) or (made, file)
            inside, _, line = where.rpartition(":")
            where = f"{own[inside][1]}:{line}" if inside in own else where
            fix = (
                'flags = ["-I…"] in its /* kb header, or --option include=DIR, says where'
                if missing_header(made)
                else ""
            )
            raise CompileFailed.of("compiler", f"does not compile: {what}", where=where, fix=fix)
        headers[name] = found


def _compiled(
    library: Any, source: str, file: str, headers: Mapping[str, str], entries: Sequence[str], words: Sequence[str]
) -> Compiled | str:
    """Return a compiled program, or what the compiler says against it."""
    program = ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(headers))(*(one.encode() for one in headers.values()))
    names = (ctypes.c_char_p * len(headers))(*(one.encode() for one in headers))
    _check(
        library,
        library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), file.encode(), len(headers), texts, names),
    )
    try:
        for one in entries:
            _check(library, library.nvrtcAddNameExpression(program, one.encode()))
        given = (ctypes.c_char_p * len(words))(*(one.encode() for one in words))
        status = library.nvrtcCompileProgram(program, len(words), given)
        log = _bytes(library, program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
        if status:
            return log if problem_in(log, file) else _said(library, status)
        symbols = {}
        for entry in entries:
            symbol = ctypes.c_char_p()
            _check(library, library.nvrtcGetLoweredName(program, entry.encode(), ctypes.byref(symbol)))
            symbols[entry] = (symbol.value or b"").decode()
        ptx = _bytes(library, program, "PTX").rstrip(b"\0").decode(errors="replace")
        return Compiled(_bytes(library, program, "CUBIN"), ptx, log, symbols)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def problem_in(log: str, file: str) -> tuple[str, str] | None:
    """Return the first error of a log and where it is, `file:line`; None when there is none."""
    found = [*_ERROR.finditer(log)]
    for one in found:
        if one["file"] != _NAMES:
            return one["what"][:300], f"{one['file']}:{one['line']}"
    if ended := _AT_END.search(log):
        return f"at the end of the file: {ended['what'][:300]}", file
    if found:
        return found[0]["what"][:300], file
    if said := _ASSEMBLER.search(log):
        return f"ptxas: {said['what'][:300]}", file
    return None


def nvrtc_version() -> str:
    """Return the compiler's version; raises `MissingTool` without one."""
    library, major, minor = _nvrtc(), ctypes.c_int(), ctypes.c_int()
    _check(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def _bytes(library: Any, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    held = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, held))
    return held.raw


def _check(library: Any, status: int) -> None:
    if status:
        raise CompileFailed.of("compiler", _said(library, status), where="nvrtc")


def _said(library: Any, status: int) -> str:
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return f"NVRTC says {(library.nvrtcGetErrorString(status) or b'').decode()}"


def _roots() -> Iterator[Path]:
    """Yield folders with `lib` and `include` of CUDA: wheels of CUDA 13, of CUDA 12, then toolkits."""
    packages = dict.fromkeys([*map(Path, _sites()), Path(sysconfig.get_paths()["purelib"])])
    for one in packages:
        yield from (one / "nvidia" / name for name in ("cu13", "cuda_nvrtc", "cuda_runtime", "cuda_cccl"))
    yield from (Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name))
    yield Path("/usr/local/cuda")


def _sites() -> list[str]:
    return [one for one in sys.path if one.endswith("-packages")]


@cache
def _nvrtc() -> Any:
    for root in _roots():
        for folder in ("lib", "lib64"):
            found = sorted(one for one in (root / folder).glob("libnvrtc.so*") if _LIBRARY.fullmatch(one.name))
            for one in found:
                try:
                    return ctypes.CDLL(str(one))
                except OSError:
                    continue
    raise MissingTool("NVRTC is not installed", where="compile", fix="install kopt-kb[cuda]", code="KB121")


@cache
def _includes() -> tuple[Path, ...]:
    """Return folders of CUDA's own headers, and of its C++ library where it is apart."""
    found = [inner for root in _roots() for inner in (root / "include", root / "include" / "cccl")]
    return tuple(dict.fromkeys(one for one in found if one.is_dir()))
