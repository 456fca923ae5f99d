"""A kernel file on a platform in one go: count, compile, occupancy, quantisation, roofline, measured points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from kopt_kb.analysis.occupancy.occupancy import Occupancy, occupancy
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.quantisation import Quantisation, quantise
from kopt_kb.analysis.roofline.roofline import Roofline, roofline
from kopt_kb.kernels.compile.pool import CompilePool
from kopt_kb.kernels.compile.request import Compilation, CompileRequest, OpCase
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.static.counting import CountedKernel, count_compilation, work_of
from kopt_kb.static.limits import limits_of
from kopt_kb.static.static_profile import Case, CompiledKernel, as_case, check_shared_memory, profile_of
from kopt_kb.wiki.registry import Platform
from kopt_kb.wire import Wire

__all__ = ["KernelRoofline", "KernelRooflines", "kernel_rooflines", "rooflines_of"]


@dataclass(frozen=True, slots=True)
class KernelRoofline(Wire):
    """One launch of a kernel under a platform's roofs.

    Attributes:
        quantisation: Wave and tile losses; None where nothing fits, or the SM count or a limit that the kernel meets is
            UNKNOWN.
        measured_s: Median time from a profile of the same kernel, None without one.
    """

    WIRE: ClassVar = (
        "name", "compile=compiled", "count=counted", "occupancy", "roofline", "quantisation", "measured_s",
    )  # fmt: skip
    compiled: CompiledKernel
    counted: CountedKernel
    occupancy: Occupancy
    roofline: Roofline
    quantisation: Quantisation | None
    measured_s: float | None = None

    @property
    def name(self) -> str:
        """Symbol of the kernel."""
        return self.compiled.name


@dataclass(frozen=True, slots=True)
class KernelRooflines(Wire):
    """Several launches, or one on several platforms."""

    kernels: tuple[KernelRoofline, ...]


def _dtype(counted: CountedKernel) -> str:
    return counted.kernel.executed[0].dtype if counted.kernel.executed else "fp32"


def _losses(counted: CountedKernel, fitting: Occupancy, platform: Platform) -> Quantisation | None:
    count = platform.get("sm_count")
    blocks = prod(counted.compilation.grid) if counted.compilation.grid else 0
    is_bound = fitting.exactness != "exact" or fitting.blocks_per_sm < 1
    if not isinstance(count, Quantity) or is_bound or blocks < 1:
        return None
    kernel = counted.kernel
    useful = sum(one.amount.value or 0 for one in kernel.useful)
    executed = sum(one.amount.value or 0 for one in kernel.executed)
    work = {"useful": useful, "executed": executed} if 0 < useful <= executed else {}
    return quantise(blocks, int(count.si), fitting.blocks_per_sm, **work)


def _measured(name: str, profiles: Iterable[KernelProfile]) -> float | None:
    times = [one.duration_s for one in profiles if name in {one.function, one.name}]
    return next((time for time in times if time is not None), None)


def kernel_rooflines(
    cases: Iterable[Case],
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
    made: list[tuple[Compilation, str]] = []
    with CompilePool() as pool:
        for case in cases:
            plain, identity = as_case(case), platform.identity
            request = CompileRequest(plain, identity.target, device=identity.platform, facts=facts or {})
            dtype = plain.dtype if isinstance(plain, OpCase) else ""
            made += [(one, dtype) for one in pool.compile(request)]
    return rooflines_of(made, platform, grid=grid, profiles=profiles)


def rooflines_of(
    made: Iterable[tuple[Compilation, str]],
    platform: Platform,
    *,
    grid: tuple[int, ...] | None = None,
    profiles: Iterable[KernelProfile] = (),
) -> list[KernelRoofline]:
    """Return compiled kernels, each with its storage type (empty: that of its operations), on a platform."""
    limits, measured = limits_of(platform), list(profiles)
    found = []
    for one, dtype in made:
        compiled, counted = profile_of(one), count_compilation(one, grid)
        check_shared_memory([compiled], limits)
        fitting = occupancy(compiled.resources, limits, allow_unknown=True)
        line = roofline(work_of(counted, dtype or _dtype(counted)), platform)
        losses = _losses(counted, fitting, platform)
        found.append(KernelRoofline(compiled, counted, fitting, line, losses, _measured(compiled.name, measured)))
    return found
