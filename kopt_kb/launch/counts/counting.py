"""Work of a kernel file: compile to Triton IR, count the IR with the launch's own arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy

from kopt_kb.analysis.ir.machine.multiplied import executed_as
from kopt_kb.analysis.ir.triton import IrCount, TensorArg, count_ir
from kopt_kb.analysis.ir.triton.budget import CountLimits
from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.analysis.ir.triton.plan import Mode
from kopt_kb.analysis.ir.triton.result import Amount, KernelCount
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.doors.language import Language
from kopt_kb.doors.languages import languages
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import Compilation, CompileRequest, Given, number
from kopt_kb.launch.counts.static_profile import CompileCase, as_case
from kopt_kb.problem.counts import ByteCount, Count, FlopCount
from kopt_kb.problem.dtypes import Engine
from kopt_kb.problem.work import Work

__all__ = [
    "CountedKernel",
    "CountedKernels",
    "UncountedError",
    "count_case",
    "count_compilation",
    "is_countable",
    "work_of",
]

_WHY = "`kb count` says why, with the IR line"

EXACT_LANES = 1 << 26
"""Memory lanes that are evaluated (once of programs that are alike but for a shift) before shapes are counted instead:
seconds of one core."""


_SHARED = 1 << 41
"""Bytes between buffers that several arguments share: more than a record may have."""

COUNT_S = 10.0
"""Seconds for each way of counting a launch."""


class UncountedError(BadInput):
    """Work that the IR does not tell."""

    code = "KB086"


@dataclass(frozen=True, slots=True)
class RunsAs(Wire):
    """What the target executes of operations that the IR has.

    Attributes:
        dtype: Type in the IR.
        engine: Engine that they are meant for.
        executed_dtype: Type of the instruction that does them.
        executed_engine: Its engine.
        instruction: The matrix instruction; empty without one.
    """

    dtype: str
    engine: Engine
    executed_dtype: str
    executed_engine: Engine
    instruction: str = ""

    def told(self, target: str) -> str:
        """Return it as a sentence where that is something else than the IR says, else nothing."""
        if (self.dtype, self.engine) == (self.executed_dtype, self.executed_engine):
            return ""
        by = f"by {self.instruction}" if self.instruction else "no matrix instruction is in its code"
        runs = f"{self.executed_dtype} {self.executed_engine} on {target}"
        return f"{self.dtype} {self.engine} of the IR runs as {runs}: {by}"


@dataclass(frozen=True, slots=True)
class CountedKernel(Wire):
    """The count of one launch.

    Attributes:
        compilation: What was compiled; its IR is what was counted.
        count: Result of the IR counter.
        mode: `exact` (masks and addresses) or `shape`.
    """

    WIRE: ClassVar = (
        "name=kernel.name", "mode", "grid=compilation.grid", "flops=kernel.flops", "bytes=kernel.bytes",
        "intensity=kernel.intensity", "exactness=kernel.exactness", "notes=kernel.notes", "runs_as",
        "target=compilation.target", "versions=compilation.versions", "specialisation=compilation.specialisation",
    )  # fmt: skip
    compilation: Compilation
    count: IrCount
    mode: str

    @property
    def kernel(self) -> KernelCount:
        """The launched kernel's numbers."""
        return self.count.kernels[0]

    @property
    def runs_as(self) -> tuple[RunsAs, ...]:
        """What the target executes of each kind of operations, read from its machine code."""
        return tuple(_runs_as(self.compilation, one.dtype, one.engine) for one in self.kernel.executed)


@dataclass(frozen=True, slots=True)
class CountedKernels(Wire):
    """The counts of several launches."""

    kernels: tuple[CountedKernel, ...]


def _argument(given: Given) -> Any:
    value = number(given)
    if isinstance(value, TensorSpec):
        base = None if value.place is None else (1 + value.place[0]) * _SHARED + value.place[1]
        if value.values is None:
            return TensorArg(value.shape, value.dtype, value.strides, base)
        return TensorArg(value.shape, value.dtype, base=base, data=numpy.array(value.values).reshape(value.shape))
    return int(value) if isinstance(value, bool) else value


def _parameter(compilation: Compilation, at: int, name: str) -> int | str:
    """Return the IR's name of a parameter where it has it, else its place; a descriptor takes several places."""
    return name if f"%{name}:" in compilation.ttir else at


def is_countable(compilation: Compilation) -> bool:
    """Return whether there is IR that somebody here counts."""
    return bool(compilation.ttir) or _counting(compilation) is not None


def _counting(compilation: Compilation) -> Language | None:
    """Return the language that counts the IR, where it is none of Triton's."""
    if compilation.ttir or not compilation.dialects:
        return None
    return next((each for each in languages() if each.count is not None and each.dialect in compilation.dialects), None)


def _uncounted(compilation: Compilation) -> BadInput:
    what = f"{compilation.name} has no Triton IR: operations of machine code are not counted"
    if compilation.dialects:
        what = f"{compilation.name} has IR of {', '.join(compilation.dialects)}, which no installed pack counts"
    fix = "kb roofline FILE takes the closed form of the operation that the file declares, --op OP that of any"
    return BadInput(what, fix=fix, code="KB086")


def count_compilation(
    compilation: Compilation,
    grid: tuple[int, ...] | None = None,
    mode: str = "auto",
    max_seconds: float | None = COUNT_S,
) -> CountedKernel:
    """Return the count of a compiled launch.

    Args:
        compilation: With its IR and arguments.
        grid: Launch grid where the case gave none.
        mode: `exact`, `shape`, or `auto`: exact, unless that means to follow more than `EXACT_LANES` lanes or takes
            longer; a note says so then.
        max_seconds: Wall time of one way of counting; None: any.

    Raises:
        BadInput: No grid, or an argument the count depends on is missing.
        IrError: The IR holds something that can't be counted, with its line.
    """
    launch = grid or compilation.grid
    language = _counting(compilation)
    if not compilation.ttir and language is None:
        raise _uncounted(compilation)
    if not launch:
        raise BadInput(f"no launch grid for {compilation.name}", fix="give --grid X[,Y[,Z]]", code="KB087")
    if language is not None and language.count is not None:
        return CountedKernel(compilation, language.count(compilation, launch), "exact")
    if mode not in {"auto", "exact", "shape"}:
        raise BadInput(f"unknown mode {mode!r}", fix="auto, exact or shape", code="KB106")
    given: dict[int | str, Any] = {
        _parameter(compilation, at, name): _argument(value)
        for at, (name, value) in enumerate(compilation.arguments)
        if value is not None
    }
    file = f"<ir of {compilation.name}>"
    chosen: Mode = "shape" if mode == "shape" else "exact"
    limits = CountLimits(seconds=max_seconds)
    first = replace(limits, lanes=EXACT_LANES) if mode == "auto" else limits
    try:
        counted = count_ir(compilation.ttir, launch, given, mode=chosen, file=file, limits=first)
    except IrError as error:
        if mode != "auto" or error.error_code != "KB043":
            raise
        chosen = "shape"
        counted = count_ir(compilation.ttir, launch, given, mode=chosen, file=file, limits=limits)
        counted = counted.noted(f"counted by shape, so bounds: {error.what}")
    return CountedKernel(compilation, counted, chosen)


def count_case(
    case: CompileCase,
    target: str,
    *,
    grid: tuple[int, ...] | None = None,
    mode: str = "auto",
    pool: CompilePool | None = None,
    facts: Mapping[str, int] | None = None,
) -> tuple[CountedKernel, ...]:
    """Return the counts of all kernels that a case launches, compiled for a target whose device has those facts."""
    request = CompileRequest(as_case(case), target, disassemble=False, facts=facts or {})
    if pool is not None:
        compiled = pool.compile(request)
    else:
        with CompilePool() as own:
            compiled = own.compile(request)
    return tuple(count_compilation(one, grid, mode) for one in compiled)


def _known(amounts: Iterable[Amount]) -> Count | None:
    """Return the sum of amounts, None when one is unknown."""
    total = Count(0)
    for amount in amounts:
        if amount.value is None or amount.exactness == "unknown":
            return None
        total = total + Count(int(amount.value), amount.exactness)
    return total


def _traffic(level: Any, direction: Any, compulsory: Amount, requested: Amount) -> ByteCount | None:
    least = _known([compulsory]) or _known([requested])
    return None if least is None else ByteCount(level, direction, least, _known([requested]))


def _runs_as(compilation: Compilation, dtype: str, engine: str) -> RunsAs:
    """Return what the target executes of operations of the IR.

    Without machine code, too, a `tt.dot` of fp32 operands at full precision is no tensor-core instruction on NVIDIA
    (PTX ISA, section mma: the multiplicands are f16, bf16, tf32, f64, integers and narrower types).
    """
    meant: Engine = "matrix" if engine == "matrix" else "vector"
    if compilation.matrix is None and dtype == "fp32" and compilation.target.startswith("sm_"):
        return RunsAs(dtype, meant, dtype, "vector")
    return RunsAs(
        dtype, meant, *executed_as(dtype, meant, compilation.matrix or (), known=compilation.matrix is not None)
    )


def work_of(counted: CountedKernel, dtype: str) -> Work:
    """Return the counted launch as work: useful operations by (dtype, engine), compulsory bytes by direction.

    Raises:
        UncountedError: Operations or bytes are unknown.
    """
    kernel = counted.kernel
    executed = {(one.dtype, one.engine): one.amount for one in kernel.executed}
    runs = {(one.dtype, one.engine): (one.executed_dtype, one.executed_engine) for one in counted.runs_as}
    useful: dict[tuple[str, Engine], list[Amount]] = {}
    done: dict[tuple[str, Engine], list[Amount]] = {}
    for one in kernel.useful:
        where = runs[(one.dtype, "matrix" if one.engine == "matrix" else "vector")]
        useful.setdefault(where, []).append(one.amount)
        done.setdefault(where, []).append(executed[(one.dtype, one.engine)])
    flops = []
    for (counted_as, engine), amounts in useful.items():
        total = _known(amounts)
        if total is None:
            raise UncountedError(f"operations of {counted.compilation.name} are unknown", fix=_WHY)
        flops.append(FlopCount(counted_as, engine, total, _known(done[(counted_as, engine)])))
    moved = [
        _traffic("dram", "read", kernel.read.compulsory, kernel.read.requested),
        _traffic("dram", "write", kernel.written.compulsory, kernel.written.requested),
    ]
    if any(one is None for one in moved):
        raise UncountedError(f"bytes of {counted.compilation.name} are unknown", fix=_WHY)
    return Work(
        op=counted.compilation.name,
        shape=(),
        dtype=dtype,
        flops=tuple(flops),
        bytes=tuple(one for one in moved if one is not None),
        definitions=(
            ("flops", "operations of the kernel's IR whose results reach memory; special functions apart"),
            ("bytes", f"distinct bytes the kernel reads and writes, counted in {counted.mode} mode"),
            *(("executed", told) for one in counted.runs_as if (told := one.told(counted.compilation.target))),
        ),
    )
