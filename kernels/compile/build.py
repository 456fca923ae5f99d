"""Compile one case in this process; meant for a worker, since the compiler may crash or run away."""

from __future__ import annotations

import contextlib
import inspect
import io
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kopt_kb.errors import BadInput, KoptError
from kopt_kb.kernels.compile.disassemble import sass_of, tool_version
from kopt_kb.kernels.compile.loader import heuristic_names, jit_functions, load_module, unwrap
from kopt_kb.kernels.compile.request import (
    Compilation,
    CompileFailed,
    CompileRequest,
    Given,
    KernelCase,
    OpCase,
    constant,
    kernel_case,
    number,
    worded,
)
from kopt_kb.kernels.compile.stub import activate, argument, gpu_target
from kopt_kb.kernels.compile.target import CompileTarget
from kopt_kb.kernels.launch_case import LaunchCase

__all__ = ["build", "failure"]

_METADATA = ("shared", "tmem_size", "num_warps", "num_stages", "num_ctas", "global_scratch_size")


def build(request: CompileRequest) -> list[Compilation]:
    """Return the compiled kernels of a request; one, or as many as the op file launches.

    Raises:
        BadInput: File, kernel or arguments are wrong; one line that names them.
        CompileFailed: Triton or the assembler refuses the kernel.
    """
    target = CompileTarget.parse(request.target)
    activate(target)
    module = load_module(request.case.file)
    if isinstance(request.case, OpCase):
        launches = _launches(module, request.case)
        return [_compile(one.kernel, kernel_case(one), target, request, tuple(one.grid)) for one in launches]
    kernel = _pick(jit_functions(module), request.case)
    return [_compile(kernel, request.case, target, request, ())]


def _launches(module: Any, case: OpCase) -> tuple[LaunchCase, ...]:
    maker = getattr(module, "static_cases", None)
    if maker is None:
        raise BadInput(
            "the file has no static_cases(shape, dtype, config)",
            where=case.file,
            fix="name a kernel and its arguments instead",
            code="KB080",
        )
    try:
        return tuple(maker(case.shape, case.dtype, dict(case.config) or None))
    except KoptError:
        raise
    except Exception as error:
        message = f"static_cases fails for {case.shape} {case.dtype}: {_line(error)}"
        raise BadInput(message, where=case.file, code="KB081") from error


def _pick(kernels: Mapping[str, object], case: KernelCase) -> Any:
    if case.kernel in kernels:
        return kernels[case.kernel]
    if not case.kernel and len(kernels) == 1:
        return next(iter(kernels.values()))
    if not kernels:
        raise BadInput("no @triton.jit kernel in the file", where=case.file, code="KB079")
    what = f"no kernel {case.kernel!r}" if case.kernel else "more than one kernel"
    raise BadInput(what, where=case.file, fix=f"kernels here: {', '.join(kernels)}; write FILE:NAME", code="KB081")


def _compile(
    kernel: Any,
    case: KernelCase,
    target: CompileTarget,
    request: CompileRequest,
    grid: tuple[int, ...],
) -> Compilation:
    where = f"{case.file}:{case.kernel or unwrap(kernel).__name__}"
    configured = _with_config(kernel, case, where)
    bound = _bind(kernel, configured, where)
    start = time.perf_counter()
    with _stop_early(target, request.shared_limit_bytes, where):
        compiled, log = _run(kernel, bound, configured.options, where)
    compiled_at = time.perf_counter()
    assembly = compiled.asm.get("amdgcn", "")
    if request.disassemble and "cubin" in compiled.asm:
        assembly = sass_of(compiled.asm["cubin"])
    seconds = {"compile": compiled_at - start, "disassemble": time.perf_counter() - compiled_at}
    found = _result(compiled, target, assembly, log, seconds, grid)
    return replace(found, arguments=_arguments(kernel, configured, compiled.src))


def _with_config(kernel: Any, case: KernelCase, where: str) -> KernelCase:
    """Return the case with an autotune config's values filled in, when `autotune_config` chooses one."""
    options = dict(case.options)
    index = options.pop("autotune_config", None)
    if index is None:
        return case
    configs = getattr(kernel, "configs", [])
    if not isinstance(index, int) or not 0 <= index < len(configs):
        raise BadInput(f"no autotune config {index}", where=where, fix=f"the kernel has {len(configs)}", code="KB082")
    chosen = configs[index]
    own = {"num_warps": chosen.num_warps, "num_stages": chosen.num_stages, "num_ctas": chosen.num_ctas}
    return KernelCase(case.file, case.kernel, case.args, {**chosen.kwargs, **case.constexprs}, {**own, **options})


def _bind(kernel: Any, case: KernelCase, where: str) -> dict[str, object]:
    """Return every parameter's value by name, or name all that is missing or superfluous."""
    jit, computed = unwrap(kernel), heuristic_names(kernel)
    dynamic = [param for param in jit.params if not param.is_constexpr]
    if isinstance(case.args, Mapping):
        given = dict(case.args)
    else:
        if len(case.args) > len(dynamic):
            count = f"{len(case.args)} arguments for {len(dynamic)} run-time parameters"
            raise BadInput(count, where=where, fix=f"parameters: {', '.join(p.name for p in dynamic)}", code="KB081")
        given = {param.name: value for param, value in zip(dynamic, case.args, strict=False)}
    values: dict[str, object] = {name: argument(number(value)) for name, value in given.items()}
    values |= {name: constant(value) for name, value in case.constexprs.items()}
    names = [param.name for param in jit.params]
    if unknown := sorted(set(values) - set(names)):
        raise BadInput(
            f"unknown argument {', '.join(unknown)}", where=where, fix=f"parameters: {', '.join(names)}", code="KB081"
        )
    given_or_computed = {*values, *computed}
    missing = [p for p in jit.params if p.name not in given_or_computed and p.default is inspect.Parameter.empty]
    if missing:
        text = ", ".join(f"{p.name} (constexpr)" if p.is_constexpr else p.name for p in missing)
        raise BadInput(f"missing argument {text}", where=where, fix="give a value for each", code="KB081")
    return values


def _run(
    kernel: Any,
    values: Mapping[str, object],
    options: Mapping[str, object],
    where: str,
) -> tuple[Any, str]:
    """Compile through Triton's own launch path, stopping before the launch; return kernel and ptxas log."""
    entry = kernel.fn if hasattr(kernel, "configs") else kernel
    unwrap(kernel).device_caches.clear()
    captured = io.StringIO()
    try:
        with contextlib.redirect_stdout(captured):
            compiled = entry.run(grid=(1,), warmup=True, **values, **options)
    except KoptError:
        raise
    except Exception as error:
        raise failure(error, where) from error
    return compiled, captured.getvalue()


@contextlib.contextmanager
def _stop_early(target: CompileTarget, limit_bytes: int | None, where: str) -> Iterator[None]:
    """Check shared memory once Triton has allocated it, before code generation, which is half of the time.

    The backend's list of stages is wrapped. Triton's own hook for stages changed from one version to the next, and
    from 3.7 on it adds an argument to what the kernel is specialised for.
    """
    from triton.compiler.compiler import make_backend

    if limit_bytes is None:
        yield
        return
    backend = type(make_backend(gpu_target(target)))
    add_stages = backend.add_stages

    def limited(self: object, stages: dict[str, Callable[..., object]], *rest: object) -> None:
        add_stages(self, stages, *rest)
        stage = next(name for name in ("ptx", "amdgcn") if name in stages)
        generate = stages[stage]

        def checked(source: Any, metadata: Any) -> object:
            if metadata["shared"] > limit_bytes:
                what = f"needs {metadata['shared']} B of shared memory, a block may use {limit_bytes} B"
                raise CompileFailed.of("shared_memory", what, where=where, fix="smaller tiles or fewer stages")
            return generate(source, metadata)

        stages[stage] = checked

    backend.add_stages = limited
    try:
        yield
    finally:
        backend.add_stages = add_stages


def failure(error: BaseException, where: str) -> CompileFailed:
    """Return Triton's complaint as one line: the innermost cause, and the assembler's own error."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line.startswith(("ptxas", "error")) and "stderr" not in line]
    text = telling[0] if telling else _line(error)
    return CompileFailed.of("compiler", f"does not compile: {text[:300]}", where=where)


def _line(error: BaseException) -> str:
    last = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {last[-1] if last else ''}".rstrip(": ")


def _result(
    compiled: Any,
    target: CompileTarget,
    assembly: str,
    log: str,
    seconds: Mapping[str, float],
    grid: tuple[int, ...],
) -> Compilation:
    source, metadata = compiled.src, compiled.metadata
    names = list(source.fn.arg_names)
    constants = {names[key[0]]: _plain(value) for key, value in source.constants.items() if len(key) == 1}
    attributes = {names[key[0]]: dict(pairs) for key, pairs in source.attrs.items() if len(key) == 1}
    return Compilation(
        name=compiled.name,
        target=target.name,
        assembly=assembly,
        ptx=compiled.asm.get("ptx", ""),
        ttir=compiled.asm.get("ttir", ""),
        binary=compiled.kernel,
        assembler_log=log,
        metadata={name: int(getattr(metadata, name, 0) or 0) for name in _METADATA},
        specialisation={name: {"type": kind, **attributes.get(name, {})} for name, kind in source.signature.items()},
        constexprs=constants,
        options={
            name: _plain(getattr(metadata, name))
            for name in ("enable_fp_fusion", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
            if getattr(metadata, name, None) is not None
        },
        versions=_versions(target, str(metadata.triton_version)),
        seconds=dict(seconds),
        grid=grid,
    )


def _arguments(kernel: Any, case: KernelCase, source: Any) -> tuple[tuple[str, Given], ...]:
    """Return the run-time parameters with what they were given, in the order of the IR."""
    dynamic = [param.name for param in unwrap(kernel).params if not param.is_constexpr]
    given = dict(case.args) if isinstance(case.args, Mapping) else dict(zip(dynamic, case.args, strict=False))
    kept = [name for name, kind in source.signature.items() if kind != "constexpr"]
    return tuple((name, given.get(name)) for name in kept)


def _plain(value: object) -> object:
    return worded(value) if isinstance(value, int | float | str | bool | None) else str(value)  # type: ignore[arg-type]


def _versions(target: CompileTarget, triton: str) -> dict[str, str]:
    if target.backend == "hip":
        return {"triton": triton, "llvm": f"bundled with triton {triton}"}
    blackwell = isinstance(target.arch, int) and target.arch >= 100
    assembler = "ptxas-blackwell" if blackwell else "ptxas"
    return {"triton": triton, "ptxas": tool_version(assembler), "nvdisasm": tool_version("nvdisasm")}
