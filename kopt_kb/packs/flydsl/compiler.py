"""FlyDSL: a `@flyc.jit` function that takes a header's tensors in order, made to a code object of AMD.

It asks for ROCm's linker: Triton has that linker inside.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
from pathlib import Path
from typing import Any

from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob, dump_folder
from kopt_kb.problem.dtypes import FORMATS

__all__ = ["function_code"]

_TYPES = {one.triton: one.torch for one in FORMATS}
_LINKER = """import sys
from triton._C.libtriton import amd
words = sys.argv[1:]
out = words[words.index("-o") + 1]
amd.link_hsaco(next(one for at, one in enumerate(words) if one[0] != "-" and words[at - 1] != "-o"), out)
"""
"""What stands in for ROCm's ld.lld."""


def function_code(job: FunctionJob) -> FunctionCode:
    """Return the code object of a function's kernels; its tensors are memory that nobody touches."""
    with dump_folder() as folder:
        return FunctionCode(_code_object(job, folder))


def _code_object(job: FunctionJob, folder: Path) -> bytes:
    function = job.load()
    linker = folder / "llvm" / "bin" / "ld.lld"
    linker.parent.mkdir(parents=True, exist_ok=True)
    linker.write_text(f"#!{sys.executable}\n{_LINKER}", encoding="utf-8")
    linker.chmod(stat.S_IRWXU)
    os.environ.update(COMPILE_ONLY="1", ARCH=job.target, FLYDSL_RUNTIME_ENABLE_CACHE="0", ROCM_PATH=str(folder))
    torch = importlib.import_module("torch")
    given = [torch.empty(one.shape, dtype=getattr(torch, _TYPES[one.dtype])) for one in job.tensors]
    function(*given, **job.given(function.func))
    traced = importlib.import_module("flydsl.compiler.jit_function")
    ir, gpu = importlib.import_module("flydsl._mlir.ir"), importlib.import_module("flydsl._mlir.dialects.gpu")
    objects: list[bytes] = []

    def visit(operation: Any) -> Any:
        if operation.name == "gpu.binary":
            objects.append(bytes(gpu.ObjectAttr(ir.ArrayAttr(operation.attributes["objects"])[0]).object))
        return ir.WalkResult.ADVANCE

    with traced._create_mlir_context():
        ir.Module.parse(list(function._mem_cache.values())[-1]._ir_text).operation.walk(visit)
    if len(objects) != 1:
        raise ValueError(f"{len(objects)} code objects in place of one")
    return objects[0]
