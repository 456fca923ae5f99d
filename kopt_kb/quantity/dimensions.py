"""Dimensions of products and quotients, and the unit in which each is printed."""

from __future__ import annotations

from kopt_kb.base.errors import BadInput

__all__ = ["DimensionError", "DimensionUnit", "product_of", "quotient_of"]

DimensionUnit = tuple[str, str]
"""A dimension, and the unit of its printed form."""


class DimensionError(BadInput):
    """Two quantities whose dimensions do not fit the operation."""

    code = "KB030"


_RATIOS = {"count", "1"}
_PRODUCTS: dict[frozenset[str], DimensionUnit] = {
    frozenset({"op/B", "B/s"}): ("op/s", "TFLOPS"),
    frozenset({"op/clk", "Hz"}): ("op/s", "TFLOPS"),
    frozenset({"B/clk", "Hz"}): ("B/s", "GB/s"),
    frozenset({"op/s", "s"}): ("op", "FLOP"),
    frozenset({"B/s", "s"}): ("B", "B"),
    frozenset({"op/B", "B"}): ("op", "FLOP"),
}
_QUOTIENTS: dict[tuple[str, str], DimensionUnit] = {
    ("op", "B"): ("op/B", "FLOP/B"),
    ("op/s", "B/s"): ("op/B", "FLOP/B"),
    ("op", "op/s"): ("s", "s"),
    ("B", "B/s"): ("s", "s"),
    ("op", "s"): ("op/s", "TFLOPS"),
    ("B", "s"): ("B/s", "TB/s"),
    ("op/s", "Hz"): ("op/clk", "op/clk"),
    ("B/s", "Hz"): ("B/clk", "B/clk"),
}


def product_of(a: DimensionUnit, b: DimensionUnit) -> DimensionUnit:
    """Return what a product of two quantities is; raises `DimensionError` where none is defined."""
    for one, other in ((a, b), (b, a)):
        if one[0] in _RATIOS:
            return other
    found = _PRODUCTS.get(frozenset({a[0], b[0]}))
    if found is None:
        raise DimensionError(f"no product of {a[0]} and {b[0]} is defined")
    return found


def quotient_of(a: DimensionUnit, b: DimensionUnit) -> DimensionUnit:
    """Return what a quotient of two quantities is; raises `DimensionError` where none is defined."""
    if a[0] == b[0]:
        return "1", "1"
    if b[0] in _RATIOS:
        return a
    found = _QUOTIENTS.get((a[0], b[0]))
    if found is None:
        raise DimensionError(f"no quotient of {a[0]} by {b[0]} is defined")
    return found
