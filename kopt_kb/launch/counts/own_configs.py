"""A kernel's own `@autotune` configurations on a product: which of them a launch would take, and which limit forbids.

Only what a device refuses is left out: the limit stands beside its source. A spill is slow and launches, so it is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kopt_kb.analysis.occupancy.limits import Limiter, Limits
from kopt_kb.analysis.occupancy.occupancy import occupancy
from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, FailureKind, KernelCase, OpCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.counts.static_profile import CompiledKernel, profile_of

__all__ = ["OwnConfig", "OwnConfigs", "TunedValues", "judged", "judged_cases", "own_cases", "too_many_threads"]

TunedValues = Mapping[str, bool | int | float | str]
"""What a configuration sets, by name: constants, num_warps, num_stages, …"""

OwnReason = Literal["threads", "own_rule", "launcher", "invalid"] | FailureKind | Limiter


@dataclass(frozen=True, slots=True)
class OwnConfig(Wire):
    """One configuration of an autotuned kernel.

    Attributes:
        number: Its place among the kernel's own, as `--autotune N` takes it.
        config: What it sets.
        reason: What forbids it; None where it is kept.
        detail: One line with what it needs, the limit and its source; empty where it is kept.
        registers: Most registers of a thread of its kernels.
        spill_bytes: Most bytes that a thread spills.
        shared_bytes: Most shared memory of a block.
        blocks_per_sm: Least resident blocks; None without a product.
        occupancy_pct: Least occupancy.
        path: Folder of its record, where it was recorded.
    """

    number: int
    config: TunedValues
    reason: OwnReason | None = None
    detail: str = ""
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    blocks_per_sm: int | None = None
    occupancy_pct: float | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class OwnConfigs(Wire):
    """All configurations of a kernel, or of those that a launcher launches.

    Attributes:
        target: Public target name.
        platform: Product whose limits were applied; empty: none were.
        configurations: In the kernel's order.
    """

    WIRE: ClassVar = ("target", "platform", "total", "kept", "configurations")
    target: str
    platform: str
    configurations: tuple[OwnConfig, ...]

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.configurations)

    @property
    def kept(self) -> int:
        """How many of them a launch takes."""
        return sum(one.reason is None for one in self.configurations)


def own_cases(
    case: KernelCase | OpCase, target: str, pool: CompilePool, facts: Mapping[str, int]
) -> list[tuple[TunedValues, KernelCase]]:
    """Return what each configuration of a case's kernel sets, and the case with it.

    Raises:
        BadInput: The kernel has none.
        CompileFailed: The file can't be read.
    """
    listed = pool.listed(CompileRequest(case, CompileTarget.parse(target).name, facts=facts)).configurations
    if not listed or isinstance(case, OpCase):
        what, fix = "the kernel has no configurations of its own", "leave --autotune out"
        raise BadInput(what, where=case.file, fix=fix, code="KB082")
    return [
        (config, replace(case, options={**case.options, "autotune_config": number}))
        for number, config in enumerate(listed)
    ]


def judged_cases(
    cases: Sequence[tuple[TunedValues, KernelCase]],
    target: str,
    limits: Limits | None,
    pool: CompilePool,
    facts: Mapping[str, int],
) -> list[OwnConfig]:
    """Return the verdict on each configuration, in order; compiled side by side on the pool's workers.

    Raises:
        MissingTool: Triton is not installed.
    """
    warp = CompileTarget.parse(target).warp_size
    found = {n: refused for n, (one, _) in enumerate(cases) if (refused := too_many_threads(n, one, warp, limits))}
    todo = [number for number in range(len(cases)) if number not in found]
    most = limits.shared_memory_per_block if limits else None
    requests = [CompileRequest(cases[n][1], CompileTarget.parse(target).name, False, most, "", facts) for n in todo]
    for position, outcome in pool.compile_all(requests):
        number = todo[position]
        made = outcome if isinstance(outcome, KoptError) else [profile_of(one) for one in outcome]
        found[number] = judged(number, cases[number][0], made, limits)
    return [found[number] for number in range(len(cases))]


def too_many_threads(number: int, config: TunedValues, warp_size: int, limits: Limits | None) -> OwnConfig | None:
    """Return the verdict on a configuration whose block has more threads than any may have; None for any other."""
    warps, most = config.get("num_warps"), limits.threads_per_block if limits else None
    if limits is None or most is None or not isinstance(warps, int) or warps * warp_size <= most:
        return None
    detail = f"{warps * warp_size} threads a block ({warps} warps); {limits.cite('threads_per_block')}"
    return OwnConfig(number, config, "threads", detail)


def judged(
    number: int, config: TunedValues, made: Sequence[CompiledKernel] | KoptError, limits: Limits | None
) -> OwnConfig:
    """Return the verdict on a configuration.

    Args:
        number: Its place among the kernel's own.
        config: What it sets.
        made: Its compiled kernels, or why there are none.
        limits: Sourced limits; UNKNOWN ones are left out; None judges nothing.

    Raises:
        MissingTool: That is why there are none.
    """
    if isinstance(made, KoptError):
        return _refused(number, config, made, limits)
    one = OwnConfig(
        number, config,
        registers=max((kernel.assembler.registers or 0 for kernel in made), default=None),
        spill_bytes=max((kernel.spill_bytes or 0 for kernel in made), default=None),
        shared_bytes=max((kernel.shared_bytes for kernel in made), default=None),
    )  # fmt: skip
    if limits is None:
        return one
    most = limits.shared_memory_per_block
    if most is not None and (one.shared_bytes or 0) > most:
        detail = f"{one.shared_bytes} B of shared memory; {limits.cite('shared_memory_per_block')}"
        return replace(one, reason="shared_memory", detail=detail)
    fits = [occupancy(kernel.resources, limits, allow_unknown=True) for kernel in made]
    for fit in fits:
        if not fit.blocks_per_sm:
            limiter: Limiter = next((name for name, blocks in fit.block_limits.items() if not blocks), "blocks")
            return replace(one, reason=limiter, detail="; ".join(fit.refusals), blocks_per_sm=0, occupancy_pct=0.0)
    return replace(
        one,
        blocks_per_sm=min((fit.blocks_per_sm for fit in fits), default=None),
        occupancy_pct=min((fit.occupancy_pct for fit in fits), default=None),
    )


def _refused(number: int, config: TunedValues, error: KoptError, limits: Limits | None) -> OwnConfig:
    """Return the verdict on a configuration that gave nothing to launch."""
    if isinstance(error, MissingTool):
        raise error
    kind: OwnReason = "launcher" if error.error_code == "KB445" else "invalid"
    if error.error_code == "KB082":
        kind = "own_rule"
    elif error.error_code in _KINDS:
        kind = _KINDS[error.error_code]
    source = f"; {limits.cite('shared_memory_per_block')}" if limits and kind == "shared_memory" else ""
    return OwnConfig(number, config, kind, f"{error.what}{source}")


_KINDS: dict[str, FailureKind] = {
    CompileFailed.of(kind, "", where="").error_code: kind
    for kind in ("compiler", "time_limit", "memory_limit", "crash", "shared_memory")
}
"""Code of a compiler's failure → its kind; it travels from a maker as a code alone."""
