"""What a count says: FLOPs, special functions and bytes of a kernel, each exact or a bound, with notes by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kopt_kb.analysis.ttir.plan import Mode
from kopt_kb.analysis.ttir.tally import LOWER, UPPER, Direction, Exactness, exactness_of

__all__ = ["Amount", "DirectionBytes", "Flops", "IrCount", "IrNote", "KernelCount", "Special", "ratio", "total"]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and what it bounds; `value` is None when nothing is known of it.

    `upper` means that the true number is at most this, `lower` that it is at least this.
    """

    value: int | None
    exactness: Exactness

    @staticmethod
    def of(value: int, flags: int = 0) -> Amount:
        """A number with flag bits; both bits together leave nothing known."""
        exactness = exactness_of(flags)
        return Amount(None if exactness == "unknown" else value, exactness)

    @property
    def flags(self) -> int:
        """The flag bits that `exactness` stands for."""
        return {"exact": 0, "upper": UPPER, "lower": LOWER, "unknown": UPPER | LOWER}[self.exactness]

    def to_json(self) -> dict[str, object]:
        """`{"value", "exactness"}`."""
        return {"value": self.value, "exactness": self.exactness}


def total(amounts: Sequence[Amount]) -> Amount:
    """The sum, as exact as its least exact part; bounds in both directions make it unknown."""
    flags = 0
    for amount in amounts:
        flags |= amount.flags
    return Amount.of(sum(amount.value or 0 for amount in amounts), flags)


@dataclass(frozen=True, slots=True)
class Flops:
    """Floating-point (or integer dot) operations of one dtype on one engine, `matrix` or `vector`."""

    dtype: str
    engine: str
    amount: Amount

    def to_json(self) -> dict[str, object]:
        """`{"dtype", "engine", "value", "exactness"}`."""
        return {"dtype": self.dtype, "engine": self.engine, **self.amount.to_json()}


@dataclass(frozen=True, slots=True)
class Special:
    """Special-function operations: one function (`exp2`, `rsqrt`, a library symbol) at one dtype."""

    dtype: str
    function: str
    executed: Amount
    useful: Amount

    def to_json(self) -> dict[str, object]:
        """`{"dtype", "function", "executed", "useful"}`."""
        return {
            "dtype": self.dtype,
            "function": self.function,
            "executed": self.executed.to_json(),
            "useful": self.useful.to_json(),
        }


@dataclass(frozen=True, slots=True)
class DirectionBytes:
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

    def to_json(self) -> dict[str, object]:
        """The four amounts by name."""
        return {
            "requested": self.requested.to_json(),
            "compulsory": self.compulsory.to_json(),
            "sectors": self.sectors.to_json(),
            "sector_requests": self.sector_requests.to_json(),
        }


@dataclass(frozen=True, slots=True)
class IrNote:
    """What limits a count, and the IR line it comes from."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class KernelCount:
    """The work of one launch of one kernel."""

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
    def exactness(self) -> Exactness:
        """The least exact of executed FLOPs, requested and compulsory bytes."""
        flags = self.executed_flops.flags | self.requested_bytes.flags | self.compulsory_bytes.flags
        return exactness_of(flags)

    def bytes_of(self, direction: Direction) -> DirectionBytes:
        """Traffic one way."""
        return self.read if direction == "read" else self.written

    def to_json(self) -> dict[str, object]:
        """One entry of the `count` document."""
        return {
            "name": self.name,
            "mode": self.mode,
            "grid": list(self.grid),
            "flops": {
                "executed": [flops.to_json() for flops in self.executed],
                "useful": [flops.to_json() for flops in self.useful],
                "special": [special.to_json() for special in self.special],
                "total_executed": self.executed_flops.to_json(),
                "total_useful": self.useful_flops.to_json(),
            },
            "bytes": {
                "read": self.read.to_json(),
                "written": self.written.to_json(),
                "requested": self.requested_bytes.to_json(),
                "compulsory": self.compulsory_bytes.to_json(),
            },
            "intensity": {
                "executed_flops_per_requested_byte": ratio(self.executed_flops, self.requested_bytes),
                "executed_flops_per_compulsory_byte": ratio(self.executed_flops, self.compulsory_bytes),
                "useful_flops_per_compulsory_byte": ratio(self.useful_flops, self.compulsory_bytes),
            },
            "exactness": self.exactness,
            "notes": [{"line": note.line, "text": note.text} for note in self.notes],
        }


def ratio(above: Amount, below: Amount) -> dict[str, object]:
    """`{"value", "exactness"}` of a quotient: an upper bound below makes the quotient a lower bound."""
    flipped = {0: 0, UPPER: LOWER, LOWER: UPPER}.get(below.flags, UPPER | LOWER)
    flags = above.flags | flipped
    known = flags != UPPER | LOWER and below.value and above.value is not None
    value = (above.value or 0) / (below.value or 1) if known else None
    return {"value": value, "exactness": exactness_of(flags) if known else "unknown"}


@dataclass(frozen=True, slots=True)
class IrCount:
    """Counts of the kernels of one IR text."""

    file: str
    kernels: tuple[KernelCount, ...]

    def to_json(self) -> dict[str, object]:
        """The `kb count` document: `{"kernels": [{"name", "flops", "bytes", "intensity", "exactness", …}]}`."""
        return {"file": self.file, "kernels": [kernel.to_json() for kernel in self.kernels]}
