"""A language of sums: a kernel returns the tensors whose elements are added."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from kopt_kb.analysis.ir.triton.result import Amount, DirectionBytes, Flops, IrCount, KernelCount
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob
from kopt_kb.launch.cuda.nvrtc import compile_cuda

__all__ = ["count", "function_code", "kernel"]


def kernel(function: Callable[..., tuple[str, ...]]) -> Callable[..., tuple[str, ...]]:
    """Mark a function as a kernel."""
    return function


def function_code(job: FunctionJob) -> FunctionCode:
    """Return the machine code of a function: one element a thread."""
    function = job.load()
    names = list(inspect.signature(function).parameters)
    added = function(*names)
    inputs = ", ".join(f"const float* {name}" for name in names)
    source = f"""extern "C" __global__ void {job.function}({inputs}, float* out, int size) {{
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < size) out[at] = {" + ".join(f"{name}[at]" for name in added)};
}}"""
    made = compile_cuda(source, str(job.file), job.arch, entries=[job.function])
    return FunctionCode(made.cubin, made, dialects={"sums": "+".join(added)})


def count(compilation: Compilation, grid: tuple[int, ...]) -> IrCount:
    """Return the work of a launch: an addition between two terms, 4 B a tensor for each element."""
    added = compilation.dialects["sums"].split("+")
    size = next(given for _, given in reversed(compilation.arguments))
    flops = (Flops("fp32", "vector", Amount.of(size * (len(added) - 1))),)

    def moved(tensors: int) -> DirectionBytes:
        amount, nobody_knows = Amount.of(4 * size * tensors), Amount(None, "unknown")
        return DirectionBytes(amount, amount, nobody_knows, nobody_knows)

    read = moved(len(set(added)))
    made = KernelCount(compilation.name, "exact", grid, flops, flops, (), read, moved(1), ())
    return IrCount("<sums>", (made,))
