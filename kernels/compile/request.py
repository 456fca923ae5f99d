"""What is asked of a compile worker and what comes back: plain data that can be pickled and hashed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kopt_kb.errors import BadInput, FindingError
from kopt_kb.kernels.launch_case import LaunchCase, Scalar, TensorSpec

if TYPE_CHECKING:
    from kopt_kb.error_codes import Code

__all__ = ["Compilation", "CompileFailed", "CompileRequest", "FailureKind", "KernelCase", "OpCase", "kernel_case"]

FailureKind = Literal["compiler", "time_limit", "memory_limit", "crash", "shared_memory"]


_CODES: dict[FailureKind, Code] = {
    "compiler": "KB070",
    "time_limit": "KB071",
    "memory_limit": "KB072",
    "crash": "KB073",
    "shared_memory": "KB074",
}


class CompileFailed(FindingError):
    """A kernel that could not be compiled, or whose result can't be launched."""

    code = "KB070"

    @property
    def kind(self) -> FailureKind:
        """Why, from a closed set; the error code says the same."""
        return next(kind for kind, code in _CODES.items() if code == self.error_code)

    @classmethod
    def of(cls, kind: FailureKind, what: str, *, where: str, fix: str = "") -> CompileFailed:
        """Return the error of that kind."""
        return cls(what, where=where, fix=fix, code=_CODES[kind])


@dataclass(frozen=True, slots=True)
class KernelCase:
    """One kernel of a file with its arguments.

    Attributes:
        file: Python file that defines the kernel.
        kernel: Name of the kernel in it; empty when the file has exactly one entry kernel.
        args: Run-time arguments in order, or by name.
        constexprs: Constexpr arguments by name.
        options: num_warps, num_stages, num_ctas and further backend options.
    """

    file: str
    kernel: str
    args: tuple[TensorSpec | Scalar, ...] | Mapping[str, TensorSpec | Scalar] = ()
    constexprs: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpCase:
    """The launches of an op file for a shape; the worker asks the file's `static_cases`.

    Attributes:
        file: Python file with `static_cases(shape, dtype, config)`.
        shape: Problem shape.
        dtype: Storage type.
        config: Values of the tuning space; missing ones take the file's default.
    """

    file: str
    shape: tuple[int, ...]
    dtype: str
    config: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """One job of a worker.

    Attributes:
        case: What to compile.
        target: Public target name.
        disassemble: Whether SASS is wanted (AMDGCN text comes anyway).
        shared_limit_bytes: Give up before the assembler when a block needs more shared memory than this.
    """

    case: KernelCase | OpCase
    target: str
    disassemble: bool = True
    shared_limit_bytes: int | None = None


@dataclass(frozen=True)
class Compilation:
    """One compiled kernel, raw: texts of the compiler and its metadata.

    Attributes:
        name: Symbol of the kernel.
        target: Public target name.
        assembly: SASS (empty unless asked for) or AMDGCN text.
        ptx: PTX text; empty on AMD.
        ttir: Triton IR after Triton's own first passes.
        binary: cubin or hsaco.
        assembler_log: `ptxas -v` output; empty on AMD.
        metadata: shared, tensor memory columns, warps, … as Triton reports them.
        specialisation: Type and attributes of each argument that the code was made for.
        constexprs: Constant arguments, those that specialisation made constant included.
        options: Backend options in force.
        versions: triton, and ptxas and nvdisasm or llvm.
        seconds: Wall time by step, in seconds.
        grid: Launch grid where the case gives one.
        arguments: What each run-time parameter of the IR was given, in the IR's order; constants left out.
    """

    name: str
    target: str
    assembly: str
    ptx: str
    ttir: str
    binary: bytes
    assembler_log: str
    metadata: Mapping[str, int]
    specialisation: Mapping[str, Mapping[str, object]]
    constexprs: Mapping[str, object]
    options: Mapping[str, object]
    versions: Mapping[str, str]
    seconds: Mapping[str, float]
    grid: tuple[int, ...] = ()
    arguments: tuple[tuple[str, TensorSpec | Scalar], ...] = ()


def kernel_case(case: LaunchCase) -> KernelCase:
    """Return a launch as data: its kernel by file and name (a string `file.py:name` is taken as it is).

    Raises:
        BadInput: The kernel isn't at the top level of a file, so that a child process can't import it.
    """
    file, name = _locate(case.kernel)
    options = {"num_warps": case.num_warps, "num_stages": case.num_stages, "num_ctas": case.num_ctas}
    return KernelCase(file, name, case.args, dict(case.constexprs), options | dict(case.options))


def _locate(kernel: Any) -> tuple[str, str]:
    if isinstance(kernel, str):
        file, _, name = kernel.rpartition(":")
        return (file, name) if file else (name, "")
    function = kernel
    while hasattr(function, "fn"):
        function = function.fn
    source = inspect.getsourcefile(function) if callable(function) else None
    if source is None or "<locals>" in getattr(function, "__qualname__", ""):
        raise BadInput(
            f"kernel {getattr(function, '__name__', kernel)!r} is not at the top level of a file",
            where="LaunchCase.kernel",
            fix="move it into a module of its own",
            code="KB085",
        )
    return str(Path(source).resolve()), str(function.__name__)
