"""Rooflines as documents hold them: read from a journal or from `--json`, with the work, roofs and targets typed.

`Roofline` is computed from rows of the wiki and writes this form; a recorded one is what views and judges use, so that
a time is compared with the numbers that were registered and not with those of a newer wiki.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.analysis.roofline.basis import Basis
from kopt_kb.base.wire import Text, Wire, read
from kopt_kb.problem.shapes import format_shape
from kopt_kb.problem.work import Work
from kopt_kb.quantity import Grade
from kopt_kb.quantity.recorded import RecordedQuantity, RecordedUnknown

__all__ = [
    "DRAM",
    "Bound",
    "RecordedCeiling",
    "RecordedCitation",
    "RecordedRoofline",
    "RecordedTarget",
    "RoofUse",
    "read_rooflines",
    "roof_uses",
]

DRAM = "dram"
"""Name of device memory's roof."""

Bound = Literal["compute", "memory", "balanced", "unknown"]


@dataclass(frozen=True, slots=True)
class RecordedTarget(Wire):
    """A target that was written; `value` and `unit` are null and `needs` says why where its roof was UNKNOWN.

    Attributes:
        metric: `compute` or `bandwidth`.
        name: The roof it is a share of: `bf16 matrix`, `dram`.
        basis: Whether that is the documented roof, our own measured one or the vendor's.
        factor: The share.
    """

    WIRE: ClassVar = ("metric", "name", "basis", "factor", "value", "unit", "needs?", "si_value?", "grades?")
    metric: Literal["compute", "bandwidth"]
    name: Text
    basis: Basis
    factor: float
    value: float | None
    unit: Text | None
    needs: tuple[Text, ...] | None = None
    si_value: int | float | None = None
    grades: tuple[Grade, ...] | None = None


@dataclass(frozen=True, slots=True)
class RecordedCeiling(Wire):
    """A roof that was written: as documented, and as measured by ourselves or the vendor (`basis`)."""

    name: Text
    basis: Basis
    documented: RecordedQuantity | RecordedUnknown
    measured: RecordedQuantity | None
    notes: tuple[str, ...]

    @property
    def roof(self) -> RecordedQuantity | RecordedUnknown:
        """The roof that targets are a share of: the measured one where there is one."""
        return self.documented if self.measured is None else self.measured

    @property
    def unit_si(self) -> Literal["FLOP/s", "B/s"]:
        """Unit of every rate under this roof."""
        return "FLOP/s" if self.is_engine else "B/s"

    @property
    def is_engine(self) -> bool:
        """Whether it limits operations (`bf16 matrix`), and not bytes of a memory level (`dram`)."""
        return " " in self.name

    def per_s(self, basis: Basis) -> Fraction | None:
        """Return the documented or the measured roof in `unit_si`; None when it is UNKNOWN or was not measured."""
        value = self.documented if basis == "documented" else self.measured
        return value.si if isinstance(value, RecordedQuantity) else None


@dataclass(frozen=True, slots=True)
class RecordedCitation(Wire):
    """A row the roofline rests on."""

    citation: Text
    key: Text
    row_sha256: str


@dataclass(frozen=True, slots=True)
class RecordedRoofline(Wire):
    """Where a work stood under a platform's roofs; see `Roofline` for the fields.

    Attributes:
        intensity: Useful operations over compulsory bytes of device memory, FLOP/B.
        ridge: Intensity at which the limiting engine and device memory take equally long, FLOP/B; None when UNKNOWN.
        attainable: Highest useful rate under `documented` and, where there are any, `measured` roofs.
        target: The target that applies.
    """

    platform: Text
    work: Work
    intensity: int | float
    ridge: int | float | None
    bound: Bound
    limiter: str
    attainable: dict[Basis, RecordedQuantity | RecordedUnknown]
    target: RecordedTarget
    targets: tuple[RecordedTarget, ...]
    ceilings: tuple[RecordedCeiling, ...]
    citations: tuple[RecordedCitation, ...]
    notes: tuple[str, ...]

    @property
    def shape(self) -> str:
        """The shape as it is written everywhere: `8192x4096`."""
        return format_shape(self.work.shape)

    def ceiling(self, name: str) -> RecordedCeiling | None:
        """Return the roof of this name, if the work has it."""
        return next((one for one in self.ceilings if one.name == name), None)

    def amount_under(self, roof: str) -> int:
        """Return what counts under a roof: operations of `bf16 matrix`, compulsory bytes of `dram`."""
        return self.work.amount_under(roof)

    def least_s(self, roof: str, basis: Basis) -> Fraction | None:
        """Return the least time under one roof in seconds, exact; None when that roof is not known."""
        found = self.ceiling(roof)
        per_s = None if found is None else found.per_s(basis)
        return Fraction(self.amount_under(roof)) / per_s if per_s else None


def read_rooflines(documents: object, *, where: str = "rooflines") -> tuple[RecordedRoofline, ...]:
    """Return the rooflines of a list of documents.

    Raises:
        WireError: A member is missing, surplus or wrong.
    """
    return read(tuple[RecordedRoofline, ...], documents, where=where)


@dataclass(frozen=True, slots=True)
class RoofUse(Wire):
    """A time under one roof.

    Attributes:
        name: Roof, such as `bf16 matrix` or `dram`.
        unit: FLOP/s or B/s, the unit of every rate here.
        achieved_per_s: Amount over time.
        documented_per_s: What a data sheet promises; None when nobody says.
        measured_per_s: What a program of this project reached; None when nobody measured it.
    """

    WIRE: ClassVar = (
        "name", "unit", "achieved_si=achieved_per_s", "documented_si=documented_per_s", "documented_share",
        "measured_si=measured_per_s", "measured_share",
    )  # fmt: skip
    name: str
    unit: str
    achieved_per_s: float
    documented_per_s: float | None
    measured_per_s: float | None

    @property
    def documented_share(self) -> float | None:
        """Achieved over documented; None without a documented roof."""
        return self.achieved_per_s / self.documented_per_s if self.documented_per_s else None

    @property
    def measured_share(self) -> float | None:
        """Achieved over measured, which may be beaten; None without a measured roof."""
        return self.achieved_per_s / self.measured_per_s if self.measured_per_s else None


def roof_uses(roofline: RecordedRoofline, median_s: float) -> tuple[RoofUse, ...]:
    """Return the use of every roof of a roofline by a time in seconds."""
    return tuple(
        RoofUse(
            ceiling.name,
            ceiling.unit_si,
            roofline.amount_under(ceiling.name) / median_s,
            _float(ceiling.per_s("documented")),
            _float(ceiling.per_s("measured")),
        )
        for ceiling in roofline.ceilings
    )


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
