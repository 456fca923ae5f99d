"""Prune a tuning space before any device second is spent: what can't launch, spills, or fits zero times."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, cast

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.analysis.occupancy.occupancy import occupancy
from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.compile.frames import CompileOutcome
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase, OpCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.counts.static_profile import CompileCase, CompiledKernel, as_case, profile_of

__all__ = [
    "Config",
    "Kept",
    "PruneOptions",
    "PruneResult",
    "Reason",
    "Removed",
    "configurations",
    "judge_configs",
    "op_cases",
    "prune",
]

Config = Mapping[str, object]
Reason = Literal[
    "invalid", "compiler", "time_limit", "memory_limit", "crash", "shared_memory", "cannot_launch", "spills"
]


@dataclass(frozen=True)
class Kept(Wire):
    """A configuration that may be measured.

    Attributes:
        config: Its values.
        occupancy_pct: Least occupancy of its kernels.
        blocks_per_sm: Least resident blocks of its kernels.
        unknown: Limits that were UNKNOWN, so that the configuration was judged without them.
    """

    config: Config
    occupancy_pct: float
    blocks_per_sm: int
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Removed(Wire):
    """A configuration that is not worth a device second.

    Attributes:
        config: Its values.
        reason: Closed set.
        detail: One line with the number and the limit it was judged against.
    """

    config: Config
    reason: Reason
    detail: str


@dataclass(frozen=True)
class PruneResult(Wire):
    """What is left of a tuning space, and why the rest is not.

    Attributes:
        target: Public target name.
        kept: Configurations to measure, in the order of the space.
        removed: The others, in the same order.
        seconds_s: Wall time.
    """

    WIRE: ClassVar = ("target", "total", "seconds=seconds_s", "kept", "removed")
    target: str
    kept: tuple[Kept, ...]
    removed: tuple[Removed, ...]
    seconds_s: float

    @property
    def total(self) -> int:
        """Configurations of the space."""
        return len(self.kept) + len(self.removed)


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """How to compile a space.

    Attributes:
        workers: Compile processes; None takes as many as there are cores.
        time_limit_s: Wall time of one configuration.
        memory_limit_bytes: Address space of a worker; 0 for none.
        ends_at: Moment of `time.monotonic` at which all of them are over.
    """

    workers: int | None = None
    time_limit_s: float = 60.0
    memory_limit_bytes: int = 0
    ends_at: float = math.inf


DEFAULT_OPTIONS = PruneOptions()


def configurations(space: Mapping[str, Sequence[object]]) -> Iterator[dict[str, object]]:
    """Yield every combination of a literal tuning space, last name fastest."""
    for values in itertools.product(*space.values()):
        yield dict(zip(space, values, strict=True))


def op_cases(file: str | Path, shape: tuple[int, ...], dtype: str) -> Callable[[Config], OpCase]:
    """Return the case of each configuration of an op file; the file is imported in the workers only."""

    def case_of(config: Config) -> OpCase:
        return OpCase(str(file), tuple(shape), dtype, dict(config))

    return case_of


def prune(
    space: Mapping[str, Sequence[object]],
    case_of: Callable[[Config], CompileCase | None],
    target: str,
    limits: Limits,
    options: PruneOptions = DEFAULT_OPTIONS,
) -> PruneResult:
    """Return the configurations that can launch without spills, and why the others can't.

    Args:
        space: Values of each knob.
        case_of: The launch of a configuration; None or a `KoptError` when it is no valid one.
        target: Public target name.
        limits: Sourced limits; UNKNOWN ones are left out and named in what is kept.
        options: Processes, limits of each.

    Raises:
        MissingTool: Triton is not installed.
    """
    start = time.perf_counter()
    target = CompileTarget.parse(target).name
    configs = list(configurations(space))
    size = max(1, min(options.workers or os.cpu_count() or 1, len(configs)))
    limit_s, most, ends_at = options.time_limit_s, options.memory_limit_bytes, options.ends_at
    with CompilePool(size, time_limit_s=limit_s, memory_limit_bytes=most, ends_at=ends_at) as pool:
        verdicts = judge_configs(configs, case_of, target, limits, pool)
    return PruneResult(
        target=target,
        kept=tuple(one for one in verdicts if isinstance(one, Kept)),
        removed=tuple(one for one in verdicts if isinstance(one, Removed)),
        seconds_s=time.perf_counter() - start,
    )


def judge_configs(
    configs: Sequence[Config],
    case_of: Callable[[Config], CompileCase | None],
    target: str,
    limits: Limits,
    pool: CompilePool,
) -> list[Kept | Removed]:
    """Return the verdict on each configuration in their order; all are compiled, for a kept result could be forged.

    Args:
        configs: Configurations, compiled side by side on the pool's workers.
        case_of: The launch of a configuration; None or a `KoptError` when it is no valid one.
        target: Public target name.
        limits: Sourced limits.
        pool: Compile processes; they stay warm for the next call.

    Raises:
        MissingTool: Triton is not installed.
    """
    target = CompileTarget.parse(target).name
    verdicts: dict[int, Kept | Removed] = {}
    todo: list[tuple[int, KernelCase | OpCase]] = []
    for index, config in enumerate(configs):
        case = _launch(config, case_of)
        if isinstance(case, Removed):
            verdicts[index] = case
        else:
            todo.append((index, case))
    requests = [CompileRequest(case, target, False, limits.shared_memory_per_block) for _, case in todo]
    for position, outcome in pool.compile_all(requests):
        index = todo[position][0]
        verdicts[index] = _judge(configs[index], outcome, limits)
    return [verdicts[index] for index in range(len(configs))]


def _launch(config: Config, case_of: Callable[[Config], CompileCase | None]) -> KernelCase | OpCase | Removed:
    try:
        case = case_of(config)
    except KoptError as error:
        return Removed(config, "invalid", str(error))
    return Removed(config, "invalid", "no launch for this combination") if case is None else as_case(case)


def _judge(config: Config, outcome: CompileOutcome, limits: Limits) -> Kept | Removed:
    if isinstance(outcome, MissingTool):
        raise outcome
    if isinstance(outcome, KoptError):
        return _refused(config, outcome, limits)
    worst: Kept | None = None
    for one in outcome:
        verdict = _judge_kernel(config, profile_of(one), limits)
        if isinstance(verdict, Removed):
            return verdict
        if worst is None or verdict.occupancy_pct < worst.occupancy_pct:
            worst = verdict
    return worst or Removed(config, "invalid", "the configuration launches no kernel")


def _refused(config: Config, error: KoptError, limits: Limits) -> Removed:
    kind = error.kind if isinstance(error, CompileFailed) else "arguments"
    if kind == "arguments":  # arguments that do not fit are no word on resources
        return Removed(config, "invalid", str(error))
    source = f" ({limits.cite('shared_memory_per_block')})" if kind == "shared_memory" else ""
    return Removed(config, cast("Reason", kind), str(error) + source)


def _judge_kernel(config: Config, facts: CompiledKernel, limits: Limits) -> Kept | Removed:
    most = limits.shared_memory_per_block
    if most is not None and facts.resources.shared_bytes > most:
        detail = (
            f"{facts.name}: {facts.resources.shared_bytes} B shared memory; {limits.cite('shared_memory_per_block')}"
        )
        return Removed(config, "shared_memory", detail)
    result = occupancy(facts.resources, limits, allow_unknown=True)
    if result.blocks_per_sm == 0:
        return Removed(config, "cannot_launch", f"{facts.name}: occupancy 0; {'; '.join(result.refusals)}")
    if facts.spill_bytes:
        return Removed(config, "spills", f"{facts.name}: spills {facts.spill_bytes} B a thread")
    return Kept(config, 100 * result.occupancy_fraction, result.blocks_per_sm, result.unknown)
