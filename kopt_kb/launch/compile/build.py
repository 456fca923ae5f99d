"""Compile one case in this process; meant for a worker, since the compiler may crash or run away."""

from __future__ import annotations

import contextlib
import inspect
import io
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.doors.languages import language_of_file
from kopt_kb.kernels.launch_case import LaunchCase
from kopt_kb.launch.compile.decorated import (
    chosen_config,
    computed_names,
    configurations,
    described,
    unwrap,
    values_of,
)
from kopt_kb.launch.compile.device import DeviceFacts, standing_in
from kopt_kb.launch.compile.disassemble import sass_of, tool_version
from kopt_kb.launch.compile.importing import Published, load_published
from kopt_kb.launch.compile.loader import jit_functions, load_module
from kopt_kb.launch.compile.matrix import matrix_instructions
from kopt_kb.launch.compile.request import (
    Compilation,
    CompileFailed,
    CompileRequest,
    Given,
    KernelCase,
    Listed,
    OpCase,
    constant,
    kernel_case,
    number,
    worded,
)
from kopt_kb.launch.compile.stub import activate, argument, gpu_target
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.build import build_cuda
from kopt_kb.launch.kernel.declared import has_header, refuse_unknown

__all__ = ["build", "failure", "listed", "result_of"]

_METADATA = ("shared", "tmem_size", "num_warps", "num_stages", "num_ctas", "global_scratch_size")


def build(request: CompileRequest) -> list[Compilation]:
    """Return the compiled kernels of a request; one, or as many as the op file launches.

    Raises:
        BadInput: File, kernel or arguments are wrong; one line that names them.
        CompileFailed: Triton or the assembler refuses the kernel.
    """
    target = CompileTarget.parse(request.target)
    if has_header(request.case.file):
        return build_cuda(request, target)
    if isinstance(request.case, OpCase) and (language := language_of_file(request.case.file)) and language.compile:
        return language.compile(request, request.case, target)
    with _on_device(request, target):
        if isinstance(request.case, OpCase):
            launches = _launches(load_module(request.case.file), request.case)
            return [_compile(one.kernel, kernel_case(one), target, request, tuple(one.grid)) for one in launches]
        published = load_published(request.case.file)
        kernel = _pick(published, request.case)
        return [_compile(kernel, request.case, target, request, ())]


def listed(request: CompileRequest) -> Listed:
    """Return the configurations of a request's one kernel; none where no autotuner stands above it.

    Raises:
        BadInput: The file or the kernel is wrong, or an op file is asked, whose configurations are its tuning space.
    """
    case = request.case
    if isinstance(case, OpCase) or has_header(case.file):
        what, fix = "its kernels have no configurations of their own", "name a Triton kernel with --kernel and --arg"
        raise BadInput(what, where=case.file, fix=fix, code="KB082")
    with _on_device(request, CompileTarget.parse(request.target)):
        kernel = _pick(load_published(case.file), case)
        return Listed(tuple(described(one) for one in configurations(kernel)))


@contextlib.contextmanager
def _on_device(request: CompileRequest, target: CompileTarget) -> Iterator[None]:
    """Let Triton compile for a target, and torch answer what modules ask of its device."""
    facts = DeviceFacts(request.device or target.name, target.name, request.facts)
    activate(target, facts)
    with standing_in(facts):
        yield


def _launches(module: Any, case: OpCase) -> tuple[LaunchCase, ...]:
    maker = getattr(module, "static_cases", None)
    if maker is None:
        raise BadInput(
            "the file has no static_cases(shape, dtype, config)",
            where=case.file,
            fix="name a kernel and its arguments (--kernel, --arg, --grid), or give the folder that kb record makes "
            "of its launcher",
            code="KB080",
        )
    try:
        return tuple(maker(case.shape, case.dtype, dict(case.config) or None))
    except KoptError:
        raise
    except Exception as error:
        refuse_unknown(Path(case.file), case.config)
        message = f"static_cases fails for {case.shape} {case.dtype}: {_line(error)}"
        raise BadInput(message, where=case.file, code="KB081") from error


def _pick(published: Published, case: KernelCase) -> Any:
    kernels = jit_functions(published.module)
    if case.kernel in kernels:
        return kernels[case.kernel]
    entries = {name: one for name, one in kernels.items() if name not in _called(kernels)} or kernels
    if not case.kernel and len(entries) == 1:
        return next(iter(entries.values()))
    lost = "; ".join(f"line {line}: {why}" for line, why in published.skipped.items())
    if not kernels:
        what = f"no @triton.jit kernel in the file{f', of which some could not be run: {lost[:300]}' if lost else ''}"
        raise BadInput(what, where=case.file, code="KB079")
    what = f"no kernel {case.kernel!r}" if case.kernel else "more than one kernel"
    fix = f"kernels here: {', '.join(entries)}; name one with --kernel"
    raise BadInput(what, where=case.file, fix=f"{fix}; not run: {lost[:300]}" if lost else fix, code="KB081")


def _called(kernels: Mapping[str, object]) -> set[str]:
    """Return the kernels that another one of the file calls: device functions, which nobody launches."""
    own = {name: unwrap(one).fn.__code__ for name, one in kernels.items()}
    return {name for name in own if any(name in code.co_names for other, code in own.items() if other != name)}


def _compile(
    kernel: Any,
    case: KernelCase,
    target: CompileTarget,
    request: CompileRequest,
    grid: tuple[int, ...],
) -> Compilation:
    where = f"{case.file}:{case.kernel or unwrap(kernel).__name__}"
    values = _values(kernel, case, where)
    start = time.perf_counter()
    with _stop_early(target, request.shared_limit_bytes, where):
        compiled, log = _run(kernel, values, where)
    compiled_at = time.perf_counter()
    assembly = compiled.asm.get("amdgcn", "")
    if request.disassemble and "cubin" in compiled.asm:
        assembly = sass_of(compiled.asm["cubin"])
    seconds = {"compile": compiled_at - start, "disassemble": time.perf_counter() - compiled_at}
    found = result_of(compiled, target, assembly, log, seconds, grid)
    return replace(found, arguments=_arguments(_given(kernel, case, where), compiled.src))


def _given(kernel: Any, case: KernelCase, where: str) -> dict[str, Given]:
    """Return what run-time parameters were given, by name."""
    if isinstance(case.args, Mapping):
        return dict(case.args)
    dynamic = [param.name for param in unwrap(kernel).params if not param.is_constexpr]
    if len(case.args) > len(dynamic):
        count = f"{len(case.args)} arguments for {len(dynamic)} run-time parameters"
        raise BadInput(count, where=where, fix=f"parameters: {', '.join(dynamic)}", code="KB081")
    return dict(zip(dynamic, case.args, strict=False))


def _values(kernel: Any, case: KernelCase, where: str) -> dict[str, object]:
    """Return every parameter's and option's value by name, or name all that is missing or superfluous."""
    jit, options = unwrap(kernel), dict(case.options)
    index = options.pop("autotune_config", None)
    config = chosen_config(kernel, index if isinstance(index, int) else -1, where) if index is not None else None
    is_gluon = getattr(jit, "is_gluon", lambda: False)()
    values: dict[str, object] = {
        name: argument(number(value), gluon=is_gluon) for name, value in _given(kernel, case, where).items()
    }
    values |= {name: constant(value) for name, value in case.constexprs.items()}
    names = [param.name for param in jit.params]
    if unknown := sorted(set(values) - set(names)):
        raise BadInput(
            f"unknown argument {', '.join(unknown)}", where=where, fix=f"parameters: {', '.join(names)}", code="KB081"
        )
    filled = {*values, *computed_names(kernel), *(config.all_kwargs() if config is not None else ())}
    missing = [p for p in jit.params if p.name not in filled and p.default is inspect.Parameter.empty]
    if missing:
        text = ", ".join(f"{p.name} (constexpr)" if p.is_constexpr else p.name for p in missing)
        many = len(configurations(kernel))
        fix = f"give a value for each{f', or --autotune N: the kernel has {many} configurations' if many else ''}"
        raise BadInput(f"missing argument {text}", where=where, fix=fix, code="KB081")
    return values_of(kernel, {**values, **options}, config, where)


def _run(kernel: Any, values: Mapping[str, object], where: str) -> tuple[Any, str]:
    """Compile through Triton's own launch path, stopping before the launch; return kernel and ptxas log."""
    entry = unwrap(kernel)
    entry.device_caches.clear()
    captured = io.StringIO()
    try:
        with contextlib.redirect_stdout(captured):
            compiled = entry.run(grid=(1,), warmup=True, **values)
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


def result_of(
    compiled: Any,
    target: CompileTarget,
    assembly: str,
    log: str,
    seconds: Mapping[str, float],
    grid: tuple[int, ...],
) -> Compilation:
    """Return what Triton compiled as plain data."""
    source, metadata = compiled.src, compiled.metadata
    names = list(source.fn.arg_names)
    constants = {names[key[0]]: _plain(value) for key, value in source.constants.items() if len(key) == 1}
    attributes = {names[key[0]]: dict(pairs) for key, pairs in source.attrs.items() if len(key) == 1}
    return Compilation(
        name=compiled.name,
        target=target.name,
        assembly=assembly,
        ptx=compiled.asm.get("ptx", ""),
        ttir=compiled.asm.get("ttir") or compiled.asm.get("ttgir", ""),  # all that Gluon has
        binary=compiled.kernel,
        assembler_log=log,
        metadata={name: int(getattr(metadata, name, 0) or 0) for name in _METADATA},
        specialisation={
            name: {"type": kind if isinstance(kind, str) else str(kind), **attributes.get(name, {})}
            for name, kind in source.signature.items()
        },
        constexprs=constants,
        options={
            name: _plain(getattr(metadata, name))
            for name in ("enable_fp_fusion", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
            if getattr(metadata, name, None) is not None
        },
        versions=_versions(target, str(metadata.triton_version)),
        seconds=dict(seconds),
        grid=grid,
        matrix=matrix_instructions(compiled.asm.get("ptx") or assembly),
    )


def _arguments(given: Mapping[str, Given], source: Any) -> tuple[tuple[str, Given], ...]:
    """Return the run-time parameters with what they were given, in the order of the IR."""
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
