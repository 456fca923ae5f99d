"""How far a result may be from the float64 reference, by storage type, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Exact, Wire
from kopt_kb.problem.dtypes import dtype_of

__all__ = ["TOLERANCES", "Tolerance", "tolerance_of"]


@dataclass(frozen=True, slots=True)
class Tolerance(Wire):
    """Limits of a correctness check against a float64 reference.

    Attributes:
        rel_l2_err: Largest allowed ‖out − ref‖₂ / ‖ref‖₂, exact. The signal-to-noise ratio is the same number in
            decibels.
        max_abs_err_rel: Largest allowed |out − ref| of one element, as a share of the largest |ref|.
        reason: Why these values.
    """

    rel_l2_err: Exact
    max_abs_err_rel: Exact
    reason: str

    def __post_init__(self) -> None:
        if not 0 < self.rel_l2_err < 1:
            raise BadInput(f"rel_l2_err is {self.rel_l2_err}; it must lie between 0 and 1", code="KB068")

    @property
    def snr_db(self) -> int:
        """The signal-to-noise ratio at the limit of the relative error, in whole decibels; for people."""
        return round(-20 * math.log10(self.rel_l2_err))

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read documents of earlier releases, which call the norm a maximum and state it again in decibels."""
        if "max_rel_err" not in document:
            return document
        kept = {name: value for name, value in document.items() if name not in {"max_rel_err", "min_snr_db"}}
        return {**kept, "rel_l2_err": document["max_rel_err"]}


_BLOCK = "operands carry 2 to 3 significant bits with block scales; the reference uses the same rounded operands"

_LIMITS = {
    "fp64": ("1e-12", "1e-11", "unit roundoff 2^-53; sums of 10^4 terms lose about two digits more"),
    "fp32": ("1e-5", "1e-4", "unit roundoff 2^-24; order of summation and fast exp cost a digit or two"),
    "tf32": ("1e-3", "1e-2", "operands rounded to 11 significant bits before the multiply"),
    "fp16": ("2e-3", "1e-2", "unit roundoff 2^-11 for the stored result; accumulation in fp32"),
    "bf16": ("1e-2", "5e-2", "unit roundoff 2^-8 for the stored result; accumulation in fp32"),
    "fp8": ("5e-2", "2e-1", "results of 3 or 4 significant bits, or fp8 operands rounded along the way"),
    "fp6": ("1e-1", "5e-1", _BLOCK),
    "fp4": ("1e-1", "5e-1", _BLOCK),
    "mxfp8": ("5e-2", "2e-1", "fp8 operands with shared scales of 32 elements"),
    "mxfp6": ("1e-1", "5e-1", _BLOCK),
    "mxfp4": ("1e-1", "5e-1", _BLOCK),
    "nvfp4": ("1e-1", "5e-1", _BLOCK),
    "int32": ("1e-12", "1e-12", "integers are exact: the limit only leaves room for the float64 reference"),
    "int8": ("1e-12", "1e-12", "integers are exact: the limit only leaves room for the float64 reference"),
    "int4": ("1e-12", "1e-12", "integers are exact: the limit only leaves room for the float64 reference"),
}
"""Storage type → relative error, error of an element, and why."""

TOLERANCES: dict[str, Tolerance] = {
    dtype: Tolerance(Fraction(rel), Fraction(element), reason) for dtype, (rel, element, reason) in _LIMITS.items()
}


def tolerance_of(dtype: str) -> Tolerance:
    """Return the limits for a storage type."""
    return TOLERANCES[dtype_of(dtype).name]
