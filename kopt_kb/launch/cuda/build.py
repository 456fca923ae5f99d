"""Static profiles of CUDA C++: one compilation a launch of a shape, or one a kernel of a file or code object."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.disassemble import amdgcn_of, objdump_version, sass_of, tool_version
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, Given, KernelCase, OpCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from kopt_kb.launch.cuda.given import code_given, read_given
from kopt_kb.launch.cuda.header import source_text
from kopt_kb.launch.cuda.nvrtc import Compiled, compile_cuda, nvrtc_version
from kopt_kb.launch.cuda.plan import CudaPlan, Program, header_of, launch_of, plan_of, program_of
from kopt_kb.launch.kernel.declared import GIVEN
from kopt_kb.launch.record.code_object import is_code_object, read_code_object, resource_text
from kopt_kb.launch.record.model import Argument, Launch, ScalarArg, TensorAddress

__all__ = ["build_cuda", "compiled_kernel"]


def build_cuda(request: CompileRequest, target: CompileTarget) -> list[Compilation]:
    """Return the compiled kernels of a request; without a shape, all that the file has.

    Raises:
        BadInput: The header, a kernel's name or an argument is wrong.
        CompileFailed: The compiler refuses, or a block needs more shared memory than the request allows.
        MissingTool: NVRTC or nvdisasm is not installed.
    """
    if isinstance(request.case, OpCase):
        return _launches(request, request.case, target)
    return _kernels(request, request.case, target)


def _launches(request: CompileRequest, case: OpCase, target: CompileTarget) -> list[Compilation]:
    file, begin = Path(case.file), time.perf_counter()
    plan = plan_of(header_of(file), case.shape, case.dtype, case.config, request.facts)
    program = program_of(plan, file, target)
    steps = [launch_of(plan, program, "", one) for one in plan.steps if one.kind == "launch"]
    seconds = {"compile": time.perf_counter() - begin}
    for step in steps:
        _allowed(program.read.entries[step.entry], step.shared_bytes, request.shared_limit_bytes, case.file)
    sass = _sass(program.cubin, request, seconds)
    return [_of_launch(plan, program, step, target, sass, seconds) for step in steps]


def _of_launch(
    plan: CudaPlan, program: Program, step: Launch, target: CompileTarget, sass: str, seconds: Mapping[str, float]
) -> Compilation:
    config = {name: plan.names[name] for name in plan.header.config}
    return compiled_kernel(
        program.read.entries[step.entry],
        target,
        program.cubin,
        program.compiled,
        sass,
        seconds,
        made_by=program.versions,
        dialects=program.dialects,
        threads=math.prod(step.block),
        shared_bytes=step.shared_bytes,
        ctas=math.prod(step.cluster),
        grid=step.grid,
        constants=config,
        arguments=tuple((f"{number}", _given(one)) for number, one in enumerate(step.arguments)),
    )


def _given(argument: Argument) -> Given:
    if isinstance(argument, TensorAddress):
        return TensorSpec(argument.view.shape, argument.view.dtype, argument.view.strides)
    return argument.value if isinstance(argument, ScalarArg) else None


def _kernels(request: CompileRequest, case: KernelCase, target: CompileTarget) -> list[Compilation]:
    """Return all kernels of a file that its header need not describe, or the one that is named."""
    file, begin = Path(case.file), time.perf_counter()
    if not file.is_file():
        raise BadInput("no such file", where=case.file, code="KB110")
    compiled, wanted = None, case.kernel
    if file.suffix in GIVEN:
        cubin = code_given(file, target.name)
    elif not isinstance(target.arch, int):
        raise BadInput(f"CUDA C++ is not for {target.name}", where=case.file, fix="such as sm_90", code="KB106")
    else:
        asked = [wanted] if "<" in wanted else []
        folders = [f"-I{Path(one).resolve()}" for one in str(case.options.get("include", "")).split(":") if one]
        compiled = compile_cuda(source_text(file), case.file, target.arch, entries=asked, options=folders)
        cubin, wanted = compiled.cubin, compiled.symbols.get(wanted, wanted)
    read, seconds = read_given(cubin, case.file), {"compile": time.perf_counter() - begin}
    found = _named(read, wanted, case.file)
    sass = _sass(cubin, request, seconds)
    warps, made_by = case.options.get("num_warps", 0), {} if compiled is None else {"nvrtc": nvrtc_version()}
    return [
        compiled_kernel(one, target, cubin, compiled, sass, seconds, made_by=made_by,
                     threads=target.warp_size * warps if isinstance(warps, int) and warps else one.most_threads,
                     ctas=math.prod(one.cluster))
        for one in found
    ]  # fmt: skip


def _named(read: Cubin, wanted: str, where: str) -> list[CubinKernel]:
    found = [one for name, one in read.entries.items() if wanted in name]
    if not found:
        names = ", ".join(sorted(read.entries)) or "none; templates are named with their arguments: 'name<float, 4>'"
        what = f"no kernel {wanted!r}" if wanted else "no kernel is compiled"
        raise BadInput(what, where=where, fix=f"kernels here: {names}", code="KB081")
    exact = [one for one in found if one.name == wanted]
    return exact or sorted(found, key=lambda one: one.name)


def _sass(cubin: bytes, request: CompileRequest, seconds: dict[str, float]) -> str:
    begin = time.perf_counter()
    if is_code_object(cubin):  # its resource lines are in the text
        text = resource_text(read_code_object(cubin)) + amdgcn_of(cubin)
    else:
        text = sass_of(cubin) if request.disassemble else ""
    seconds["disassemble"] = time.perf_counter() - begin
    return text


def _allowed(entry: CubinKernel, shared_bytes: int, limit: int | None, where: str) -> None:
    needed = entry.shared_bytes + shared_bytes
    if limit is not None and needed > limit:
        what = f"needs {needed} B of shared memory, a block may use {limit} B"
        raise CompileFailed.of("shared_memory", what, where=f"{where}:{entry.name}", fix="smaller tiles")


def compiled_kernel(
    entry: CubinKernel, target: CompileTarget, cubin: bytes, compiled: Compiled | None, sass: str,
    seconds: Mapping[str, float], *, made_by: Mapping[str, str], threads: int, shared_bytes: int = 0, ctas: int = 1,
    grid: tuple[int, ...] = (), constants: Mapping[str, object] | None = None,
    arguments: tuple[tuple[str, Given], ...] = (), dialects: Mapping[str, str] | None = None,
) -> Compilation:  # fmt: skip
    """Return a kernel of a code object as plain data."""
    versions = dict(made_by)
    if sass and target.backend == "cuda":
        versions["nvdisasm"] = tool_version("nvdisasm")
    elif sass:
        versions["llvm-objdump"] = objdump_version()
    return Compilation(
        name=entry.name,
        target=target.name,
        assembly=sass,
        ptx=compiled.ptx if compiled is not None else "",
        ttir="",
        assembler_log=compiled.log if compiled is not None else _log_of(entry),
        metadata={
            "shared": shared_bytes, "tmem_size": 0, "num_warps": -(-threads // target.warp_size), "num_stages": 0,
            "num_ctas": ctas, "global_scratch_size": 0,
        },
        specialisation={},
        constexprs=dict(constants or {}),
        options={},
        versions=versions,
        seconds=dict(seconds),
        grid=grid,
        arguments=arguments,
        dialects=dialects or {},
        binary=cubin,
    )  # fmt: skip


def _log_of(entry: CubinKernel) -> str:
    """Return what a code object says of a kernel in ptxas's words; it does not say what was spilled."""
    words = f"Used {entry.registers} registers, used {entry.barriers} barriers, {entry.shared_bytes} bytes smem"
    head = f"ptxas info    : Compiling entry function '{entry.name}' for 'given'"
    return f"{head}\n    {entry.stack_bytes} bytes stack frame\nptxas info    : {words}\n"
