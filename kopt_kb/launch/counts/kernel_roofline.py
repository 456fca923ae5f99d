"""A kernel file on a platform in one go: count, compile, occupancy, quantisation, roofline, measured points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import ClassVar

from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.analysis.occupancy.occupancy import Occupancy, occupancy
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.quantisation import Quantisation, quantise
from kopt_kb.analysis.roofline.roofline import Roofline, roofline
from kopt_kb.base.wire import Wire
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import Compilation, CompileRequest, KernelCase, OpCase
from kopt_kb.launch.counts.counting import CountedKernel, UncountedError, count_compilation, is_countable, work_of
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.static_profile import CompileCase, CompiledKernel, as_case, check_shared_memory, profile_of
from kopt_kb.launch.kernel.declared import DeclarationError, read_declared
from kopt_kb.problem.work import Work, work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["KernelRoofline", "KernelRooflines", "Launched", "kernel_rooflines", "rooflines_of"]


@dataclass(frozen=True, slots=True)
class KernelRoofline(Wire):
    """One launch of a kernel under a platform's roofs.

    Attributes:
        counted: Work that its Triton IR counts; None for a kernel of another language, whose work is the closed form of
            the operation that its file declares.
        quantisation: Wave and tile losses; None where nothing fits, or the SM count or a limit that the kernel meets is
            UNKNOWN.
        measured_s: Median time from a profile of the same kernel, None without one.
    """

    WIRE: ClassVar = (
        "name", "compile=compiled", "count=counted", "occupancy", "roofline", "quantisation", "measured_s",
    )  # fmt: skip
    compiled: CompiledKernel
    counted: CountedKernel | None
    occupancy: Occupancy
    roofline: Roofline
    quantisation: Quantisation | None
    measured_s: float | None = None

    @property
    def name(self) -> str:
        """Symbol of the kernel."""
        return self.compiled.name


@dataclass(frozen=True, slots=True)
class Launched:
    """A compiled launch whose roofline is wanted.

    Attributes:
        dtype: Storage type; empty: that of its operations.
        closed_form: Work of the operation, for a kernel whose IR can't be counted, or only in part.
    """

    compilation: Compilation
    dtype: str = ""
    closed_form: Work | None = None


@dataclass(frozen=True, slots=True)
class KernelRooflines(Wire):
    """Several launches, or one on several platforms."""

    kernels: tuple[KernelRoofline, ...]


def _dtype(counted: CountedKernel) -> str:
    return counted.kernel.executed[0].dtype if counted.kernel.executed else "fp32"


def _losses(
    grid: tuple[int, ...] | None, counted: CountedKernel | None, fitting: Occupancy, platform: Platform
) -> Quantisation | None:
    count = platform.get("sm_count")
    blocks = prod(grid) if grid else 0
    is_bound = fitting.exactness != "exact" or fitting.blocks_per_sm < 1
    if not isinstance(count, Quantity) or is_bound or blocks < 1:
        return None
    useful = sum(one.amount.value or 0 for one in counted.kernel.useful) if counted else 0
    executed = sum(one.amount.value or 0 for one in counted.kernel.executed) if counted else 0
    tiles = {"useful": useful, "executed": executed} if 0 < useful <= executed else {}
    return quantise(blocks, int(count.si), fitting.blocks_per_sm, **tiles)


def _closed_form(case: KernelCase | OpCase, made: Sequence[Compilation]) -> Work | None:
    """Return the declared operation's work for a file of one kernel; nobody knows the parts of several."""
    if not isinstance(case, OpCase) or len(made) != 1:
        return None
    try:
        declared = read_declared(Path(case.file))
    except DeclarationError:
        return None
    return work(declared.op, case.shape, case.dtype, **dict(declared.options))


def _work(launched: Launched, grid: tuple[int, ...] | None) -> tuple[CountedKernel | None, Work]:
    """Return what the IR counts; where it leaves anything out, the closed form of the operation, if any."""
    if launched.closed_form is not None and not is_countable(launched.compilation):
        return None, launched.closed_form
    try:
        counted = count_compilation(launched.compilation, grid)
        found = work_of(counted, launched.dtype or _dtype(counted))
    except (IrError, UncountedError):
        if launched.closed_form is None:
            raise
        return None, launched.closed_form
    # A loop that takes its tiles from a counter in memory is left out: far fewer operations than the kernel does.
    return (None, launched.closed_form) if launched.closed_form is not None and _leaves_out(found) else (counted, found)


def _leaves_out(found: Work) -> bool:
    amounts = [*(one.useful for one in found.flops), *(one.compulsory for one in found.bytes)]
    return any(one.exactness == "lower" for one in amounts)


def _measured(name: str, profiles: Iterable[KernelProfile]) -> float | None:
    times = [one.duration_s for one in profiles if name in {one.function, one.name}]
    return next((time for time in times if time is not None), None)


def kernel_rooflines(
    cases: Iterable[CompileCase],
    platform: Platform,
    *,
    grid: tuple[int, ...] | None = None,
    profiles: Iterable[KernelProfile] = (),
    facts: Mapping[str, int] | None = None,
) -> list[KernelRoofline]:
    """Return every kernel of the cases on a platform.

    Args:
        cases: What is launched.
        platform: Its target is compiled for; its rows are limits and roofs.
        grid: Launch grid where a case has none.
        profiles: Measured kernels; those of the same name give measured points.
        facts: Sourced properties of the device, for modules that ask as they are imported.

    Raises:
        BadInput: The target can't be compiled for, or the count needs an argument.
        CompileFailed: A kernel does not compile or can't be launched.
        UnknownData: An occupancy limit that matters is UNKNOWN.
    """
    made: list[Launched] = []
    with CompilePool() as pool:
        for case in cases:
            plain, identity = as_case(case), platform.identity
            request = CompileRequest(plain, identity.target, device=identity.platform, facts=facts or {})
            dtype = plain.dtype if isinstance(plain, OpCase) else ""
            compiled = pool.compile(request)
            closed = _closed_form(plain, compiled)
            made += [Launched(one, dtype, closed) for one in compiled]
    return rooflines_of(made, platform, grid=grid, profiles=profiles)


def rooflines_of(
    made: Iterable[Launched],
    platform: Platform,
    *,
    grid: tuple[int, ...] | None = None,
    profiles: Iterable[KernelProfile] = (),
) -> list[KernelRoofline]:
    """Return compiled kernels on a platform."""
    limits, measured = limits_of(platform), list(profiles)
    found = []
    for one in made:
        compiled = profile_of(one.compilation)
        counted, done = _work(one, grid)
        check_shared_memory([compiled], limits)
        fitting = occupancy(compiled.resources, limits, allow_unknown=True)
        losses = _losses(grid or one.compilation.grid, counted, fitting, platform)
        line = roofline(done, platform)
        found.append(KernelRoofline(compiled, counted, fitting, line, losses, _measured(compiled.name, measured)))
    return found
