"""ISA optimisation targets: a number and a reason each, and how far a scanned kernel is from it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from kopt_kb.base.wire import Wire

if TYPE_CHECKING:
    from kopt_kb.analysis.ir.machine.model import IsaScan

__all__ = ["IsaTarget", "Progress", "evaluate_targets", "isa_targets"]

Relation = Literal["at_least", "at_most"]
TargetStatus = Literal["met", "not_met", "not_applicable"]
Measure = Callable[..., "float | None"]
"""Reads the value of an `IsaScan`."""

_WIDE_BITS = 128
_WARPGROUP = ("HGMMA", "QGMMA", "IGMMA", "BGMMA")
_HOLDS: dict[Relation, Callable[[float, float], bool]] = {"at_least": operator.ge, "at_most": operator.le}
_SIGN: dict[Relation, str] = {"at_least": ">=", "at_most": "<="}


@dataclass(frozen=True, slots=True)
class IsaTarget:
    """One target that instruction text can decide.

    Attributes:
        id: Stable name.
        relation: Which side of the number is good.
        number: The policy's number; a share is 0 to 1.
        unit: `ratio` or `count`.
        reason: Why this number.
        measure: Reads the kernel's value; None when the target says nothing about this kernel.
        absent: Why it may not apply.
    """

    id: str
    relation: Relation
    number: float
    unit: Literal["ratio", "count"]
    reason: str
    measure: Measure
    absent: str

    @property
    def text(self) -> str:
        """The target as one readable condition."""
        return f"{self.id} {_SIGN[self.relation]} {self.number:g}"


@dataclass(frozen=True, slots=True)
class Progress(Wire):
    """One target judged against one kernel.

    Attributes:
        target: The target.
        value: The kernel's value; None when not applicable.
        status: met, not_met or not_applicable.
        detail: The reason of the target, or why it doesn't apply.
    """

    WIRE: ClassVar = (
        "id=target.id", "target=target.text", "number=target.number", "unit=target.unit", "value", "status",
        "reason=detail",
    )  # fmt: skip
    target: IsaTarget
    value: float | None
    status: TargetStatus
    detail: str


def _global_loads(scan: IsaScan) -> float | None:
    return scan.wide_share("global", ("load", "copy"), bits=_WIDE_BITS)


def _global_stores(scan: IsaScan) -> float | None:
    return scan.wide_share("global", ("store",), bits=_WIDE_BITS)


def _shared(scan: IsaScan) -> float | None:
    return scan.wide_share("shared", ("load", "store"), bits=_WIDE_BITS)


def _spills(scan: IsaScan) -> float | None:
    folded = scan.features.get("spill_store", 0) + scan.features.get("spill_load", 0)
    told = scan.resources.spills if scan.resources else None
    if told is None and not folded:
        return None if scan.isa == "ptx" or scan.count("local", ("load", "store")) else 0.0
    return float(max(folded, int(bool(told))))


def _private(scan: IsaScan) -> float | None:
    return None if scan.isa == "ptx" else float(scan.count("local", ("load", "store", "atomic")))


def _matrix(scan: IsaScan) -> float | None:
    return float(sum(scan.matrix.values()))


def _native_matrix(scan: IsaScan) -> float | None:
    """Share of matrix instructions of the target's own generation (wgmma on sm_90, tcgen05 on sm_100)."""
    total = sum(scan.matrix.values())
    if scan.isa != "sass" or not total:
        return None
    if scan.target.startswith("sm_90"):
        native = sum(scan.matrix.get(name, 0) for name in _WARPGROUP)
    elif scan.target.startswith(("sm_100", "sm_103")):
        native = sum(number for name, number in scan.matrix.items() if name.startswith("UTC"))
    else:
        return None
    return native / total


def _asynchronous(scan: IsaScan) -> float | None:
    """Share of global-to-shared traffic instructions that bypass registers, in kernels with matrix work."""
    loads = scan.count("global", ("load",))
    around = scan.count("global", ("copy",)) + scan.features.get("tma_load", 0)
    if scan.isa != "sass" or not scan.matrix or not loads + around:
        return None
    return around / (loads + around)


def _tma(scan: IsaScan) -> float | None:
    """Share of tile copies done by TMA, where the target has it and the kernel copies tiles for matrix work."""
    tma, others = scan.features.get("tma_load", 0), scan.count("global", ("copy",))
    has_tma = scan.target.startswith(("sm_9", "sm_10", "sm_12"))
    if scan.isa != "sass" or not has_tma or not scan.matrix or not tma + others:
        return None
    return tma / (tma + others)


def _moves(scan: IsaScan) -> float | None:
    total = sum(scan.matrix.values())
    if scan.isa != "amdgcn" or not total:
        return None
    return scan.features.get("accvgpr_move", 0) / total


_WIDTH = "128 bits a lane is the widest access; 32-bit ones issue four times the instructions for the same bytes"
_COMMON = (
    IsaTarget("global_load_128b_share", "at_least", 0.9, "ratio", _WIDTH, _global_loads, "no global loads"),
    IsaTarget("global_store_128b_share", "at_least", 0.9, "ratio", _WIDTH, _global_stores, "no global stores"),
    IsaTarget(
        "shared_128b_share",
        "at_least",
        0.5,
        "ratio",
        "operand tiles should move 128 bits a lane; row statistics and reductions may stay narrow",
        _shared,
        "no shared memory or LDS accesses",
    ),
    IsaTarget(
        "spills",
        "at_most",
        0,
        "count",
        "a spilled register turns into private memory traffic inside the loop",
        _spills,
        "the text doesn't say: it has private memory accesses but no spill counts",
    ),
    IsaTarget(
        "private_memory_accesses",
        "at_most",
        0,
        "count",
        "stack and scratch accesses go through the caches to device memory",
        _private,
        "PTX is before register allocation",
    ),
)
_MATRIX_PRESENT = IsaTarget(
    "matrix_instructions",
    "at_least",
    1,
    "count",
    "a kernel with a matrix product runs at the vector rate without them",
    _matrix,
    "the kernel has no matrix product",
)
_SASS = (
    IsaTarget(
        "native_matrix_share",
        "at_least",
        1.0,
        "ratio",
        "older matrix instructions reach only part of the rate of wgmma (sm_90) and tcgen05 (sm_100)",
        _native_matrix,
        "no matrix instructions, or a target with one generation of them",
    ),
    IsaTarget(
        "async_copy_share",
        "at_least",
        0.5,
        "ratio",
        "copies past the registers (LDGSTS, TMA) overlap with matrix work and need no registers",
        _asynchronous,
        "no matrix instructions, or nothing loaded",
    ),
    IsaTarget(
        "tma_share",
        "at_least",
        0.9,
        "ratio",
        "one TMA instruction moves a tile; LDGSTS needs addresses and an instruction a thread",
        _tma,
        "no TMA on the target, or no tile copies for matrix work",
    ),
)
_AMDGCN = (
    IsaTarget(
        "accvgpr_moves_per_mfma",
        "at_most",
        1.0,
        "ratio",
        "moves between VGPRs and AGPRs take issue slots beside the matrix instructions",
        _moves,
        "no matrix instructions",
    ),
)


def isa_targets(isa: str, *, matrix_product: bool = True) -> tuple[IsaTarget, ...]:
    """Return the targets of an instruction set: `sass`, `ptx` or `amdgcn`.

    Args:
        isa: The instruction set.
        matrix_product: Whether the algorithm multiplies matrices; targets about matrix instructions and their operands
            are none of the others.
    """
    own = {"sass": _SASS, "amdgcn": _AMDGCN}.get(isa, ())
    return (*_COMMON, _MATRIX_PRESENT, *own) if matrix_product else _COMMON


def evaluate_targets(scan: IsaScan, *, matrix_product: bool | None = None) -> tuple[Progress, ...]:
    """Return the progress of a kernel against each target of its instruction set.

    Args:
        scan: The scanned kernel.
        matrix_product: Whether the algorithm multiplies matrices; None judges by the text, so that
            missing matrix instructions count as not applicable.
    """
    needs_matrix = bool(scan.matrix) if matrix_product is None else matrix_product
    return tuple(_judge(target, scan, needs_matrix) for target in isa_targets(scan.isa))


def _judge(target: IsaTarget, scan: IsaScan, needs_matrix: bool) -> Progress:
    value = target.measure(scan)
    if value is None or (target is _MATRIX_PRESENT and not needs_matrix):
        return Progress(target, None, "not_applicable", target.absent)
    met = _HOLDS[target.relation](value, target.number)
    return Progress(target, value, "met" if met else "not_met", target.reason)
