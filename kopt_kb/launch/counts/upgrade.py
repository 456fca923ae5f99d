"""Kernels under two compilers: what a new version of Triton loses, and the configuration that gives it back.

Nothing runs on a GPU. Both sides are compiled by their own interpreter for the same target; registers, spills,
occupancy and the instructions of the machine code are compared. A loss is what a release note would call a regression:
spills that were not there, bulk copies or matrix instructions that are gone, fewer resident warps, narrower accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.analysis.occupancy.occupancy import occupancy
from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileRequest, KernelCase, OpCase
from kopt_kb.launch.counts.static_profile import CompiledKernel, check_shared_memory, profile_of
from kopt_kb.launch.kernel.declared import read_declared
from kopt_kb.launch.recompile.loadable import fingerprint

__all__ = ["Loss", "Side", "Upgrade", "UpgradedKernel", "case_label", "losses", "upgrade"]

LossKind = Literal[
    "refused", "spills", "bulk_copies", "matrix_instructions", "occupancy", "access_width", "wgmma_serialised"
]

_BULK = ("tma_load", "tma_store", "tma_reduce", "bulk_copy", "bulk_load", "bulk_store", "bulk_reduce")
_MOST_REPAIRS = 16
"""Neighbours of a configuration that are tried before a kernel is said to have no repair."""

_WIDE_BITS = 128
_LESS = 0.9
"""Share of matrix instructions, or of wide accesses, below which some were lost: unrolling changes counts a little."""


@dataclass(frozen=True, slots=True)
class Side(Wire):
    """One kernel under one compiler; None where it does not compile, with the reason.

    Attributes:
        occupancy_pct: Resident warps as a share of the most; None without limits.
        bulk_copies: Instructions of the bulk copy engine.
        matrix: Matrix instructions by family.
        wide_share: Share of global accesses of 128 bits and more; None without any.
        fingerprint: Of the code object, which two share where a driver can't tell them apart; empty without one.
    """

    versions: Mapping[str, str]
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    occupancy_pct: float | None = None
    bulk_copies: int = 0
    matrix: Mapping[str, int] = field(default_factory=dict)
    wide_share: float | None = None
    wgmma_serialised: bool = False
    refused: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Loss(Wire):
    """What the new compiler lost, with both numbers as text."""

    kind: LossKind
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class UpgradedKernel(Wire):
    """One kernel under both compilers.

    Attributes:
        case: File, or file and kernel, with shape and storage type.
        config: Configuration that both were given; the file's default where empty.
        losses: Empty when nothing was lost.
        repair: A neighbouring configuration under which the new compiler loses nothing against the old one's default.
    """

    case: str
    name: str
    config: JsonMap
    old: Side
    new: Side
    losses: tuple[Loss, ...]
    repair: JsonMap | None = None
    repaired: Side | None = None

    @property
    def is_compared(self) -> bool:
        """Whether it compiles under one of them at least: nothing is known of a kernel that both refuse."""
        return not (self.old.refused and self.new.refused)

    @property
    def is_changed(self) -> bool:
        """Whether a driver can tell the code objects of both apart."""
        return not self.old.fingerprint or self.old.fingerprint != self.new.fingerprint


@dataclass(frozen=True, slots=True)
class Upgrade(Wire):
    """A set of kernels under two compilers."""

    target: str
    old: str
    new: str
    kernels: tuple[UpgradedKernel, ...]

    @property
    def is_passed(self) -> bool:
        """Whether every kernel was compared and lost nothing."""
        return all(one.is_compared and not one.losses for one in self.kernels)


def losses(old: Side, new: Side) -> tuple[Loss, ...]:
    """Return what the new side lost against the old one."""
    if new.refused:
        return () if old.refused else (Loss("refused", "compiles", new.refused),)
    if old.refused:
        return ()
    found: list[Loss] = []
    if (new.spill_bytes or 0) > (old.spill_bytes or 0):
        found.append(Loss("spills", f"{old.spill_bytes or 0} B", f"{new.spill_bytes} B"))
    if new.bulk_copies < old.bulk_copies and not new.bulk_copies:
        found.append(Loss("bulk_copies", str(old.bulk_copies), str(new.bulk_copies)))
    gone = [family for family in old.matrix if not new.matrix.get(family)]
    if gone:
        found.append(Loss("matrix_instructions", _mix(old.matrix), _mix(new.matrix)))
    if old.occupancy_pct is not None and (new.occupancy_pct or 0.0) < old.occupancy_pct:
        found.append(Loss("occupancy", f"{old.occupancy_pct:.1f} %", f"{new.occupancy_pct or 0.0:.1f} %"))
    if old.wide_share and (new.wide_share or 0.0) < _LESS * old.wide_share and not new.bulk_copies:
        found.append(Loss("access_width", f"{100 * old.wide_share:.0f} %", f"{100 * (new.wide_share or 0.0):.0f} %"))
    if new.wgmma_serialised and not old.wgmma_serialised:
        found.append(Loss("wgmma_serialised", "overlapped", "serialised"))
    return tuple(found)


def _mix(matrix: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {family}" for family, count in matrix.items()) or "none"


def upgrade(
    cases: Sequence[KernelCase | OpCase],
    target: str,
    old: str,
    new: str,
    *,
    limits: Limits | None = None,
    repair: bool = True,
) -> Upgrade:
    """Compare a set of kernels under the compilers of two interpreters.

    Args:
        cases: What is compiled, by both.
        target: Public target name.
        old: Interpreter whose Triton is the baseline; empty: this one.
        new: Interpreter whose Triton is judged.
        limits: Sourced limits, for occupancy and for what a block may use.
        repair: Whether neighbours of the configuration are tried where something was lost.

    Raises:
        MissingTool: One of them has no Triton.
        BadInput: A file or its arguments are wrong, under both.
    """
    kernels: list[UpgradedKernel] = []
    with CompilePool(1, python=old) as before, CompilePool(1, python=new) as after:
        for case in cases:
            pairs = _both(_sides(case, target, before, limits), _sides(case, target, after, limits))
            for name, left, right in pairs:
                lost = losses(left, right)
                kernel = UpgradedKernel(case_label(case), name, _config(case), left, right, lost)
                if lost and repair and isinstance(case, OpCase):
                    kernel = _repaired(kernel, case, target, after, limits)
                kernels.append(kernel)
    return Upgrade(target, _version(kernels, "old"), _version(kernels, "new"), tuple(kernels))


def _version(kernels: Iterable[UpgradedKernel], side: Literal["old", "new"]) -> str:
    known = (getattr(one, side).versions.get("triton", "") for one in kernels)
    return next(filter(None, known), "unknown")


def case_label(case: KernelCase | OpCase) -> str:
    """Return how a report names a case."""
    if isinstance(case, OpCase):
        config = (f"{name}={value}" for name, value in case.config.items())
        return " ".join([Path(case.file).name, "x".join(map(str, case.shape)), case.dtype, *config])
    return f"{Path(case.file).name}:{case.kernel}"


def _config(case: KernelCase | OpCase) -> JsonMap:
    return dict(case.config) if isinstance(case, OpCase) else dict(case.constexprs)


def _sides(case: KernelCase | OpCase, target: str, pool: CompilePool, limits: Limits | None) -> dict[str, Side]:
    """Return a case's kernels by name under one compiler; one nameless side with the reason where it is refused."""
    try:
        made = [profile_of(one) for one in pool.compile(CompileRequest(case, target))]
        if limits is not None:
            check_shared_memory(made, limits)
    except KoptError as error:
        if error.error_code in {"KB110", "KB120", "KB106", "KB080"}:
            raise
        return {"": Side({}, refused=str(error)[:300])}
    return {one.name: _side(one, limits) for one in made}


def _side(kernel: CompiledKernel, limits: Limits | None) -> Side:
    fitting = occupancy(kernel.resources, limits, allow_unknown=True) if limits is not None else None
    return Side(
        versions=dict(kernel.compilation.versions),
        registers=kernel.assembler.registers,
        spill_bytes=kernel.spill_bytes,
        shared_bytes=kernel.shared_bytes,
        occupancy_pct=None if fitting is None else round(fitting.occupancy_pct, 3),
        bulk_copies=sum(kernel.scan.features.get(name, 0) for name in _BULK),
        matrix=dict(kernel.scan.matrix),
        wide_share=kernel.scan.wide_share("global", ("load", "store", "copy"), bits=_WIDE_BITS),
        wgmma_serialised=kernel.wgmma_serialised,
        fingerprint=fingerprint(kernel.compilation.binary) if kernel.compilation.binary else "",
    )


def _both(old: Mapping[str, Side], new: Mapping[str, Side]) -> Iterator[tuple[str, Side, Side]]:
    """Yield kernels of both sides by name; where one side has none, every kernel of the other against its reason."""
    for name in dict.fromkeys([*old, *new]):
        if not name and (set(old) | set(new)) != {""}:
            continue
        nothing = Side({}, refused="it launches no such kernel")
        yield name, old.get(name, old.get("", nothing)), new.get(name, new.get("", nothing))


def _repaired(
    kernel: UpgradedKernel, case: OpCase, target: str, pool: CompilePool, limits: Limits | None
) -> UpgradedKernel:
    """Return the kernel with the neighbour of its configuration that loses nothing and keeps most warps resident."""
    best: tuple[float, JsonMap, Side] | None = None
    for config in islice(_neighbours(case, kernel), _MOST_REPAIRS):
        tried = OpCase(case.file, case.shape, case.dtype, config)
        side = _sides(tried, target, pool, limits).get(kernel.name)
        if side is None or side.refused or losses(kernel.old, side):
            continue
        rank = side.occupancy_pct or 0.0
        if best is None or rank > best[0]:
            best = rank, config, side
    return (
        kernel
        if best is None
        else UpgradedKernel(
            kernel.case, kernel.name, kernel.config, kernel.old, kernel.new, kernel.losses, best[1], best[2]
        )
    )


def _neighbours(case: OpCase, kernel: UpgradedKernel) -> Iterator[JsonMap]:
    """Yield configurations that differ in one knob, those of the pipeline and of warps first."""
    space = dict(read_declared(Path(case.file)).tuning_space)
    order = sorted(space, key=lambda name: ("num_stages", "num_warps").index(name) if name.startswith("num_") else 9)
    for name in order:
        for value in space[name]:
            if kernel.config.get(name) != value:
                yield {**case.config, name: value}
