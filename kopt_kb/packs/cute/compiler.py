"""CuTe DSL (nvidia-cutlass-dsl): a `@cute.jit` function that takes a header's tensors in order, made to a cubin."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob, dump_folder

__all__ = ["function_code"]

_TYPES = {
    "fp64": "Float64", "fp32": "Float32", "fp16": "Float16", "bf16": "BFloat16", "i64": "Int64", "i32": "Int32",
    "i16": "Int16", "i8": "Int8", "u8": "Uint8", "fp8e4nv": "Float8E4M3FN", "fp8e5": "Float8E5M2",
}  # fmt: skip
"""Triton's word for an element → cutlass's."""
_ALIGNED_BYTES = 16


def function_code(job: FunctionJob) -> FunctionCode:
    """Return the cubin of a function's kernels."""
    with dump_folder() as folder:
        os.environ.update(CUTE_DSL_ARCH=job.target, CUTE_DSL_DUMP_DIR=str(folder))
        return FunctionCode(_cubin(job))


def _cubin(job: FunctionJob) -> bytes:
    function = job.load()
    cutlass, cute = importlib.import_module("cutlass"), importlib.import_module("cutlass.cute")
    runtime = importlib.import_module("cutlass.cute.runtime")
    fakes = []
    for tensor in job.tensors:
        order = tuple(reversed(range(len(tensor.shape))))  # the last extent lies densely
        element = getattr(cutlass, _TYPES[tensor.dtype])
        fakes.append(
            runtime.make_fake_compact_tensor(element, tensor.shape, stride_order=order, assumed_align=_ALIGNED_BYTES)
        )
    compiler = cute.compile[cute.KeepCUBIN, cute.GPUArch(job.target)]
    cubin = compiler(function, *fakes, **job.given(function)).artifacts.CUBIN
    return Path(cubin).read_bytes() if isinstance(cubin, str) else bytes(cubin)
