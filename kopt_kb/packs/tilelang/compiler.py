"""TileLang: a `prim_func`, or a function that returns one, made to CUDA C++, which NVRTC compiles with its headers."""

from __future__ import annotations

import importlib
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob
from kopt_kb.launch.cuda.nvrtc import compile_cuda

__all__ = ["function_code"]


def function_code(job: FunctionJob) -> FunctionCode:
    """Return the cubin of a function's kernels."""
    if not isinstance(job.arch, int):
        what = f"tilelang does not compile for {job.target}"
        raise BadInput(what, where=str(job.file), fix="name another target", code="KB106")
    source, folders = _cuda_source(job)
    options = [f"-I{folder}" for folder in folders]
    made = compile_cuda(source, str(job.file), job.arch, entries=job.entries, options=options)
    return FunctionCode(made.cubin, made)


def _cuda_source(job: FunctionJob) -> tuple[str, list[Path]]:
    """Return the CUDA C++ of a function's kernels, and where its headers are."""
    function = job.load()
    tilelang, tvm = importlib.import_module("tilelang"), importlib.import_module("tvm")
    engine = importlib.import_module("tilelang.engine")
    if type(function).__name__ != "PrimFunc":  # its module has another name in each version
        function = function(**job.given(function))
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{job.arch}"})
    with target:
        source = str(engine.lower(function, target=target).kernel_source)
    home = Path(str(tilelang.__file__)).parent
    return source, [home / "src", home / "3rdparty" / "cutlass" / "include"]
