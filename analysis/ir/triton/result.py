"""What a count says: FLOPs, special functions and bytes of a kernel, each exact or a bound, with notes by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kopt_kb.analysis.ir.triton.plan import Mode
from kopt_kb.analysis.ir.triton.tally import LOWER, UPPER, IrExactness, exactness_of
from kopt_kb.base.wire import Wire, inside

__all__ = [
    "Amount", "DirectionBytes", "FlopTotals", "Flops", "Intensities", "IrCount", "IrNote", "KernelCount", "Ratio",
    "Special", "Traffic", "ratio", "total",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount(Wire):
    """A number and what it bounds; `value` is None when nothing is known of it.

    `upper` means that the true number is at most this, `lower` that it is at least this.
    """

    value: int | None
    exactness: IrExactness

    @staticmethod
    def of(value: int, flags: int = 0) -> Amount:
        """A number with flag bits; both bits together leave nothing known."""
        exactness = exactness_of(flags)
        return Amount(None if exactness == "unknown" else value, exactness)

    @property
    def flags(self) -> int:
        """The flag bits that `exactness` stands for."""
        return {"exact": 0, "upper": UPPER, "lower": LOWER, "unknown": UPPER | LOWER}[self.exactness]


def total(amounts: Sequence[Amount]) -> Amount:
    """The sum, as exact as its least exact part; bounds in both directions make it unknown."""
    flags = 0
    for amount in amounts:
        flags |= amount.flags
    return Amount.of(sum(amount.value or 0 for amount in amounts), flags)


@dataclass(frozen=True, slots=True)
class Flops(Wire):
    """Floating-point (or integer dot) operations of one dtype on one engine, `matrix` or `vector`."""

    WIRE: ClassVar = ("dtype", "engine", *inside("amount", Amount))
    dtype: str
    engine: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class Special(Wire):
    """Special-function operations: one function (`exp2`, `rsqrt`, a library symbol) at one dtype."""

    dtype: str
    function: str
    executed: Amount
    useful: Amount


@dataclass(frozen=True, slots=True)
class DirectionBytes(Wire):
    """Global memory traffic one way.

    Attributes:
        requested: Bytes that all programs ask for, repeats counted; what L1 and L2 see.
        compulsory: Distinct bytes; what DRAM must move at least.
        sectors: Distinct 32-byte sectors.
        sector_requests: Distinct 32-byte sectors of every single access of every program, summed.
    """

    requested: Amount
    compulsory: Amount
    sectors: Amount
    sector_requests: Amount


@dataclass(frozen=True, slots=True)
class IrNote(Wire):
    """What limits a count, and the IR line it comes from."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Ratio(Wire):
    """A quotient of two amounts; None when one of them is unknown."""

    value: float | None
    exactness: IrExactness


def ratio(above: Amount, below: Amount) -> Ratio:
    """A quotient: an upper bound below makes it a lower bound."""
    flipped = {0: 0, UPPER: LOWER, LOWER: UPPER}.get(below.flags, UPPER | LOWER)
    flags = above.flags | flipped
    known = flags != UPPER | LOWER and below.value and above.value is not None
    value = (above.value or 0) / (below.value or 1) if known else None
    return Ratio(value, exactness_of(flags) if known else "unknown")


@dataclass(frozen=True, slots=True)
class FlopTotals(Wire):
    """Operations of a launch: executed (padding included) and useful, by dtype and engine and in all."""

    executed: tuple[Flops, ...]
    useful: tuple[Flops, ...]
    special: tuple[Special, ...]
    total_executed: Amount
    total_useful: Amount


@dataclass(frozen=True, slots=True)
class Traffic(Wire):
    """Bytes of a launch, each way and in all."""

    read: DirectionBytes
    written: DirectionBytes
    requested: Amount
    compulsory: Amount


@dataclass(frozen=True, slots=True)
class Intensities(Wire):
    """Operations a byte, FLOP/B, by what is counted above and below."""

    executed_flops_per_requested_byte: Ratio
    executed_flops_per_compulsory_byte: Ratio
    useful_flops_per_compulsory_byte: Ratio


@dataclass(frozen=True, slots=True)
class KernelCount(Wire):
    """The work of one launch of one kernel."""

    WIRE: ClassVar = ("name", "mode", "grid", "flops", "bytes", "intensity", "exactness", "notes")
    name: str
    mode: Mode
    grid: tuple[int, int, int]
    executed: tuple[Flops, ...]
    useful: tuple[Flops, ...]
    special: tuple[Special, ...]
    read: DirectionBytes
    written: DirectionBytes
    notes: tuple[IrNote, ...]

    @property
    def executed_flops(self) -> Amount:
        """All executed FLOPs, dtypes and engines summed."""
        return total([flops.amount for flops in self.executed])

    @property
    def useful_flops(self) -> Amount:
        """All useful FLOPs, dtypes and engines summed."""
        return total([flops.amount for flops in self.useful])

    @property
    def requested_bytes(self) -> Amount:
        """Bytes asked for, both ways."""
        return total([self.read.requested, self.written.requested])

    @property
    def compulsory_bytes(self) -> Amount:
        """Distinct bytes read plus distinct bytes written."""
        return total([self.read.compulsory, self.written.compulsory])

    @property
    def exactness(self) -> IrExactness:
        """The least exact of executed and useful FLOPs, requested and compulsory bytes: of all that is printed."""
        parts = (self.executed_flops, self.useful_flops, self.requested_bytes, self.compulsory_bytes)
        flags = 0
        for one in parts:
            flags |= one.flags
        return exactness_of(flags)

    @property
    def flops(self) -> FlopTotals:
        """Operations of the launch."""
        return FlopTotals(self.executed, self.useful, self.special, self.executed_flops, self.useful_flops)

    @property
    def bytes(self) -> Traffic:
        """Bytes of the launch."""
        return Traffic(self.read, self.written, self.requested_bytes, self.compulsory_bytes)

    @property
    def intensity(self) -> Intensities:
        """Operations a byte."""
        return Intensities(
            ratio(self.executed_flops, self.requested_bytes),
            ratio(self.executed_flops, self.compulsory_bytes),
            ratio(self.useful_flops, self.compulsory_bytes),
        )


@dataclass(frozen=True, slots=True)
class IrCount(Wire):
    """Counts of the kernels of one IR text."""

    file: str
    kernels: tuple[KernelCount, ...]

    def noted(self, text: str) -> IrCount:
        """Return it with a note on each kernel as a whole, at line 0."""
        kernels = (replace(one, notes=(IrNote(0, text), *one.notes)) for one in self.kernels)
        return replace(self, kernels=tuple(kernels))
