"""What is asked of a compile worker and what comes back: documents, and the bytes of code objects beside them.

Numbers that JSON lacks travel as the words `inf`, `-inf` and `nan` where an argument stands, and as `{"float": word}`
among constants, which may be any text; a constant that is one of Triton's types travels as `{"triton.dtype": name}`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.kernels.launch_case import LaunchCase, Scalar, TensorSpec
from kopt_kb.launch.compile.remarks import CompilerRemark

if TYPE_CHECKING:
    from kopt_kb.base.error_codes import Code

__all__ = [
    "Compilation", "CompileFailed", "CompileRequest", "FailureKind", "Given", "KernelCase", "Listed", "OpCase",
    "constant", "kernel_case", "number", "worded",
]  # fmt: skip

Given = TensorSpec | Scalar | Literal["inf", "-inf", "nan"]
"""What a run-time parameter is given."""

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
class KernelCase(Wire):
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
    args: tuple[Given, ...] | Mapping[str, Given] = ()
    constexprs: JsonMap = field(default_factory=dict)
    options: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpCase(Wire):
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
    config: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompileRequest(Wire):
    """One job of a worker.

    Attributes:
        case: What to compile.
        target: Public target name.
        disassemble: Whether SASS is wanted (AMDGCN text comes anyway).
        shared_limit_bytes: Give up before the assembler when a block needs more shared memory than this.
        device: Name of the product, for modules that ask; empty: the target's.
        facts: Sourced properties of the device by torch's names, for modules that ask.
        listing: Only list the configurations that the kernel chooses from; nothing is compiled.
    """

    case: KernelCase | OpCase
    target: str
    disassemble: bool = True
    shared_limit_bytes: int | None = None
    device: str = ""
    facts: Mapping[str, int] = field(default_factory=dict)
    listing: bool = False


@dataclass(frozen=True, slots=True)
class Listed(Wire):
    """The configurations that a kernel chooses from, in its own order: what each sets, by name."""

    configurations: tuple[Mapping[str, bool | int | float | str], ...]


@dataclass(frozen=True)
class Compilation(Wire):
    """One compiled kernel, raw: texts of the compiler and its metadata.

    Attributes:
        name: Symbol of the kernel.
        target: Public target name.
        assembly: SASS (empty unless asked for) or AMDGCN text.
        ptx: PTX text; empty on AMD.
        ttir: Triton IR after Triton's own first passes; TTGIR of a Gluon kernel.
        binary: cubin or hsaco; beside the document, not in it.
        assembler_log: `ptxas -v` output; empty on AMD.
        metadata: shared, tensor memory columns, warps, … as Triton reports them.
        specialisation: Type and attributes of each argument that the code was made for.
        constexprs: Constant arguments, those that specialisation made constant included.
        options: Backend options in force.
        versions: triton, and ptxas and nvdisasm or llvm.
        seconds: Wall time by step, in seconds.
        grid: Launch grid where the case gives one.
        arguments: What each run-time parameter of the IR was given, in the IR's order; constants left out.
        dialects: IR in other dialects than Triton's, by the dialect's name, as text.
        remarks: What the compiler said of instructions that it chose.
        matrix: Matrix instructions of PTX or AMDGCN, each once; None where neither was made.
    """

    name: str
    target: str
    assembly: str
    ptx: str
    ttir: str
    assembler_log: str
    metadata: Mapping[str, int]
    specialisation: Mapping[str, Mapping[str, str | int | bool]]
    constexprs: JsonMap
    options: JsonMap
    versions: Mapping[str, str]
    seconds: Mapping[str, float]
    grid: tuple[int, ...] = ()
    arguments: tuple[tuple[str, Given], ...] = ()
    dialects: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[CompilerRemark, ...] = ()
    matrix: tuple[str, ...] | None = None
    binary: bytes = b""

    WIRE: ClassVar = (
        "name", "target", "assembly", "ptx", "ttir", "assembler_log", "metadata", "specialisation", "constexprs",
        "options", "versions", "seconds", "grid", "arguments", "dialects", "remarks",
        "matrix",
    )  # fmt: skip


def kernel_case(case: LaunchCase) -> KernelCase:
    """Return a launch as data: its kernel by file and name (a string `file.py:name` is taken as it is).

    Raises:
        BadInput: The kernel isn't at the top level of a file, so that a child process can't import it.
    """
    file, name = _locate(case.kernel)
    options = {"num_warps": case.num_warps, "num_stages": case.num_stages, "num_ctas": case.num_ctas}
    constants = {name: _constant(value) for name, value in case.constexprs.items()}
    args = tuple(worded(value) for value in case.args)
    return KernelCase(file, name, args, constants, options | dict(case.options))


def worded(value: Given) -> Given:
    """Return a number that JSON lacks as a word, anything else as it is."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def number(value: Given) -> TensorSpec | Scalar:
    """Return what a word stands for, anything else as it is."""
    return float(value) if isinstance(value, str) else value


def _constant(value: object) -> object:
    """Return a constant as a document."""
    if isinstance(value, float):
        word = worded(value)
        return {"float": word} if isinstance(word, str) else value
    if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton."):
        return {"triton.dtype": str(value)}
    return value


def constant(value: object) -> object:
    """Return the constant of a document; raises `BadInput` for one of no kind that a kernel takes."""
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"float"}:
        return float(value["float"])
    if value.keys() == {"triton.dtype"}:
        from triton.language import dtype

        return dtype(str(value["triton.dtype"]))
    raise BadInput(f"no constant of a kernel: {dict(value)}", where="constexprs", code="KB081")


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
