"""The Triton kernels of a Python file, found by importing it in a child process."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kopt_kb.errors import BadInput, KoptError
from kopt_kb.wire import Wire

__all__ = ["FileInfo", "KernelInfo", "KernelParameter", "describe", "discover_kernels"]


@dataclass(frozen=True, slots=True)
class KernelParameter(Wire):
    """One parameter of a kernel.

    Attributes:
        name: Its name.
        constexpr: Whether it is a compile-time constant.
        default: `repr` of the default, None without one.
    """

    name: str
    constexpr: bool
    default: str | None = None


@dataclass(frozen=True, slots=True)
class KernelInfo(Wire):
    """One `@triton.jit` function.

    Attributes:
        name: Function name.
        line: Line of its `def` or first decorator.
        parameters: In order.
        configs: Autotune configurations, each with kwargs, num_warps, num_stages and num_ctas.
        heuristics: Parameters that `triton.heuristics` fills in.
        entry: Whether no other kernel of the file calls it.
    """

    name: str
    line: int
    parameters: tuple[KernelParameter, ...]
    configs: tuple[Mapping[str, object], ...] = ()
    heuristics: tuple[str, ...] = ()
    entry: bool = True


@dataclass(frozen=True)
class FileInfo(Wire):
    """What a file offers to compilers and counters.

    Attributes:
        file: Its path.
        kernels: All kernels, in order of their lines.
        op: The op id it declares, or "".
        tuning_space: Its literal TUNING_SPACE, or empty.
        has_static_cases: Whether `static_cases(shape, dtype, config)` builds the launches of a shape.
    """

    file: str
    kernels: tuple[KernelInfo, ...]
    op: str = ""
    tuning_space: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    has_static_cases: bool = False

    @property
    def entries(self) -> tuple[KernelInfo, ...]:
        """The kernels that are launched, as far as the file shows."""
        return tuple(kernel for kernel in self.kernels if kernel.entry)


def discover_kernels(file: str | Path, *, time_limit_s: float = 60.0) -> FileInfo:
    """Return the kernels of a Python file; its top-level code runs in a child process, not here.

    Raises:
        BadInput: The file is absent, can't be imported, or has no Triton kernel.
        MissingTool: Triton, or something that the file imports, is not installed.
        CompileFailed: The import ran past the time limit.
    """
    from kopt_kb.kernels.compile.pool import CompilePool

    with CompilePool(time_limit_s=time_limit_s) as pool:
        found = pool.ask(str(file))
    if isinstance(found, KoptError):
        raise found
    info = cast("FileInfo", found)
    if not info.kernels:
        raise BadInput("no @triton.jit kernel in the file", where=str(file), code="KB079")
    return info


def describe(file: str) -> FileInfo:
    """Return the same in this process, which imports the file and Triton; workers call it."""
    from kopt_kb.kernels.compile.loader import jit_functions, load_module

    module = load_module(file)
    kernels = jit_functions(module)
    called = {name for kernel in kernels.values() for name in _called(kernel)}
    space = getattr(module, "TUNING_SPACE", {})
    return FileInfo(
        file=file,
        kernels=tuple(_kernel(name, kernel, name not in called) for name, kernel in kernels.items()),
        op=str(getattr(module, "OP", "")),
        tuning_space={str(name): tuple(values) for name, values in dict(space).items()},
        has_static_cases=callable(getattr(module, "static_cases", None)),
    )


def _called(kernel: Any) -> set[str]:
    from kopt_kb.kernels.compile.loader import unwrap

    jit = unwrap(kernel)
    calls = (node.func for node in ast.walk(jit.parse()) if isinstance(node, ast.Call))
    return {func.id for func in calls if isinstance(func, ast.Name) and func.id != jit.__name__}


def _kernel(name: str, kernel: Any, entry: bool) -> KernelInfo:
    from kopt_kb.kernels.compile.loader import heuristic_names, unwrap

    jit = unwrap(kernel)
    return KernelInfo(
        name=name,
        line=jit.starting_line_number,
        parameters=tuple(
            KernelParameter(p.name, p.is_constexpr, None if p.default is inspect.Parameter.empty else repr(p.default))
            for p in jit.params
        ),
        configs=tuple(_config(one) for one in getattr(kernel, "configs", ())),
        heuristics=heuristic_names(kernel),
        entry=entry,
    )


def _config(config: Any) -> dict[str, object]:
    own = {"num_warps": config.num_warps, "num_stages": config.num_stages, "num_ctas": config.num_ctas}
    return {**dict(config.kwargs), **own}
