"""CuTe DSL, FlyDSL and TileLang: a function of a Python file with a header, made to machine code without a GPU.

The header says what is launched and on what, as for CUDA C++; the language's own compiler makes the kernels. It runs
the user's Python, so it belongs into a maker or a compile worker. CuTe DSL (nvidia-cutlass-dsl) gives a cubin; TileLang
gives CUDA C++, which NVRTC compiles with the headers of its wheel; FlyDSL gives a code object of AMD, for which it asks
for ROCm's linker: Triton has that linker inside.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from kopt_kb.errors import BadInput, KoptError, MissingTool
from kopt_kb.kernels.compile.loader import imported
from kopt_kb.kernels.cuda.ahead import CODE_FOLDER, code_ahead, code_key
from kopt_kb.kernels.cuda.nvrtc import Compiled, compile_cuda
from kopt_kb.kernels.record.model import TensorView

__all__ = ["LANGUAGES", "Foreign", "made_of"]

LANGUAGES = {"cute": "nvidia-cutlass-dsl", "flydsl": "flydsl", "tilelang": "tilelang"}
"""Language as a header names it → package that compiles it."""

_CUTE_TYPES = {
    "fp64": "Float64", "fp32": "Float32", "fp16": "Float16", "bf16": "BFloat16", "i64": "Int64", "i32": "Int32",
    "i16": "Int16", "i8": "Int8", "u8": "Uint8", "fp8e4nv": "Float8E4M3FN", "fp8e5": "Float8E5M2",
}  # fmt: skip
"""Triton's word for an element → cutlass's."""
_TORCH_TYPES = {
    "fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "i1": "bool",
}  # fmt: skip
_LINKER = """import sys
from triton._C.libtriton import amd
words = sys.argv[1:]
out = words[words.index("-o") + 1]
amd.link_hsaco(next(one for at, one in enumerate(words) if one[0] != "-" and words[at - 1] != "-o"), out)
"""
"""What stands in for ROCm's ld.lld."""
_ALIGNED_BYTES = 16
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FEATURES_FROM = 90
"""From here on a target's own features are asked for: sm_90a."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Machine code of a language's compiler.

    Attributes:
        cubin: The code object.
        compiled: What NVRTC gave where it had a part in it.
        versions: Package → version.
    """

    cubin: bytes
    compiled: Compiled | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


def made_of(
    language: str, file: Path, function: str, tensors: Sequence[TensorView], names: Mapping[str, int],
    arch: int | str, entries: Sequence[str],
) -> Foreign:  # fmt: skip
    """Return the machine code of a function for tensors of these shapes.

    Args:
        language: A key of `LANGUAGES`.
        file: Python file that has it.
        function: Its name: a `@cute.jit` or `@flyc.jit` function that takes the tensors in order, or a TileLang
            `prim_func`, or a function that returns one. Parameters that are called as one of `names` are given its
            value.
        tensors: Inputs, outputs and scratch in the header's order.
        names: Dimensions, tuning values and what the header computes from them.
        arch: Compute capability such as 90, or a processor such as gfx942.
        entries: Kernels, as the header names them.

    Raises:
        BadInput: There is no such function, or the language refuses it.
        CompileFailed: NVRTC refuses what TileLang wrote.
        MissingTool: The language's package is not installed.
    """
    package, name = LANGUAGES[language], str(arch)
    if isinstance(arch, int):
        name = f"sm_{arch}{'a' if arch >= _FEATURES_FROM else ''}"
    if isinstance(arch, int) == (language == "flydsl"):
        raise BadInput(
            f"{language} does not compile for {name}", where=str(file), fix="name another target", code="KB106"
        )
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError as error:
        if file.is_file() and (known := code_ahead(code_key(language, file, function, tensors, names, name))):
            return Foreign(known[0], None, known[1])
        fix = f"pip install {package}, in an environment of its own if versions clash, or name code in {CODE_FOLDER}"
        raise MissingTool(f"{package} is not installed", where=str(file), fix=fix, code="KB120") from error
    with _complaints(f"{file}:{function}"):
        if language == "cute":
            with _dumped() as folder:
                os.environ.update(CUTE_DSL_ARCH=name, CUTE_DSL_DUMP_DIR=folder)
                cubin = _cute(_function(file, function), tensors, names, name)
            return Foreign(cubin, None, {package: version})
        if not isinstance(arch, int):
            with _dumped() as folder:
                code = _flydsl(_function(file, function), tensors, names, name, Path(folder))
            return Foreign(code, None, {package: version})
        source, folders = _tilelang(_function(file, function), names, f"sm_{arch}")
        made = compile_cuda(source, str(file), arch, entries=entries, options=[f"-I{one}" for one in folders])
        return Foreign(made.cubin, made, {package: version})


@contextlib.contextmanager
def _dumped() -> Iterator[str]:
    """Make the folder where the compiler keeps cubins: it reads the name once and may answer with a file there."""
    folder = Path(tempfile.gettempdir()) / f"kb-cute-{os.getpid()}"
    folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _complaints(where: str) -> Iterator[None]:
    """Make whatever a language raises one line; what it prints is not shown."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    except KoptError:
        raise
    except Exception as error:
        text = " ".join(_COLOUR.sub("", str(error)).split())[:300] or "no words"
        what = f"does not compile: {type(error).__name__}: {text}"
        raise BadInput(what, where=where, fix="compile it by hand first", code="KB081") from error


def _function(file: Path, name: str) -> Any:
    if file.suffix != ".py" or not file.is_file():
        raise BadInput("no such Python file", where=str(file), fix="put it beside the header", code="KB110")
    found = getattr(imported(file.stem, file), name, None)
    if found is None:
        raise BadInput(f"no function {name}", where=str(file), fix="name one of the file", code="KB081")
    return found


def _given(function: Any, names: Mapping[str, int]) -> dict[str, int]:
    """Return the values of parameters that are called as a dimension or a tuning value."""
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in names.items() if name in parameters}


def _cute(function: Any, tensors: Sequence[TensorView], names: Mapping[str, int], arch: str) -> bytes:
    cutlass, cute = importlib.import_module("cutlass"), importlib.import_module("cutlass.cute")
    runtime = importlib.import_module("cutlass.cute.runtime")
    fakes = []
    for tensor in tensors:
        order = tuple(reversed(range(len(tensor.shape))))  # the last extent lies densely
        element = getattr(cutlass, _CUTE_TYPES[tensor.dtype])
        fakes.append(
            runtime.make_fake_compact_tensor(element, tensor.shape, stride_order=order, assumed_align=_ALIGNED_BYTES)
        )
    compiler = cute.compile[cute.KeepCUBIN, cute.GPUArch(arch)]
    found = compiler(function, *fakes, **_given(function, names)).artifacts.CUBIN
    return Path(found).read_bytes() if isinstance(found, str) else bytes(found)


def _flydsl(
    function: Any, tensors: Sequence[TensorView], names: Mapping[str, int], arch: str, folder: Path
) -> bytes:  # fmt: skip
    """Return the code object of a function's kernels; its tensors are memory that nobody touches."""
    linker = folder / "llvm" / "bin" / "ld.lld"
    linker.parent.mkdir(parents=True, exist_ok=True)
    linker.write_text(f"#!{sys.executable}\n{_LINKER}", encoding="utf-8")
    linker.chmod(stat.S_IRWXU)
    os.environ.update(COMPILE_ONLY="1", ARCH=arch, FLYDSL_RUNTIME_ENABLE_CACHE="0", ROCM_PATH=str(folder))
    torch = importlib.import_module("torch")
    given = [torch.empty(one.shape, dtype=getattr(torch, _TORCH_TYPES[one.dtype])) for one in tensors]
    function(*given, **_given(function.func, names))
    traced = importlib.import_module("flydsl.compiler.jit_function")
    ir, gpu = importlib.import_module("flydsl._mlir.ir"), importlib.import_module("flydsl._mlir.dialects.gpu")
    found: list[bytes] = []

    def visit(operation: Any) -> Any:
        if operation.name == "gpu.binary":
            found.append(bytes(gpu.ObjectAttr(ir.ArrayAttr(operation.attributes["objects"])[0]).object))
        return ir.WalkResult.ADVANCE

    with traced._create_mlir_context():
        ir.Module.parse(list(function._mem_cache.values())[-1]._ir_text).operation.walk(visit)
    if len(found) != 1:
        raise ValueError(f"{len(found)} code objects in place of one")
    return found[0]


def _tilelang(function: Any, names: Mapping[str, int], arch: str) -> tuple[str, list[Path]]:
    """Return the CUDA C++ of a function's kernels, and where its headers are."""
    tilelang, tvm = importlib.import_module("tilelang"), importlib.import_module("tvm")
    engine = importlib.import_module("tilelang.engine")
    if type(function).__name__ != "PrimFunc":  # its module has another name in each version
        function = function(**_given(function, names))
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    with target:
        source = str(engine.lower(function, target=target).kernel_source)
    home = Path(str(tilelang.__file__)).parent
    return source, [home / "src", home / "3rdparty" / "cutlass" / "include"]
