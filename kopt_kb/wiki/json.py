"""JSON forms of quantities and citations: numbers in SI, plus the printed form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kopt_kb.quantity.citation import Citation
from kopt_kb.quantity.quantity import Absent, Quantity, Unknown

__all__ = ["SI_UNITS", "cited_json", "number_json", "quantity_json"]

SI_UNITS = {"op/s": "FLOP/s", "op": "FLOP", "op/B": "FLOP/B", "op/clk": "FLOP/clk"}


def number_json(value: Fraction) -> int | float:
    """Return an exact integer where the value is one, else the nearest float."""
    return value.numerator if value.denominator == 1 else value.numerator / value.denominator


def cited_json(one: Citation) -> dict[str, Any]:
    """Return the citation as the contract names its parts."""
    return {"citation": str(one), "key": one.key, "row_sha256": one.row_sha256}


def quantity_json(value: Quantity | Unknown | Absent) -> dict[str, Any]:
    """Return value, unit, SI value, grades and citations; UNKNOWN and NONE say so."""
    if isinstance(value, Unknown):
        return {"value": None, "state": "UNKNOWN", "needs": list(value.needs), "reason": value.reason}
    if isinstance(value, Absent):
        return {"value": None, "state": "NONE", "key": value.key, "reason": value.reason}
    return {
        "value": float(value.number),
        "unit": value.unit,
        "si_value": number_json(value.si),
        "si_unit": SI_UNITS.get(value.dimension, value.dimension),
        "grades": sorted(value.grades()),
        "citations": [str(one) for one in value.citations()],
    }
