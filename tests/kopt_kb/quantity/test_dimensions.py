"""What products and quotients are."""

from __future__ import annotations

import pytest

from kopt_kb.quantity.dimensions import DimensionError, product_of, quotient_of
from kopt_kb.quantity.units import UNITS


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (("op/B", "FLOP/B"), ("B/s", "TB/s"), ("op/s", "TFLOPS")),
        (("count", "count"), ("op/s", "TFLOPS"), ("op/s", "TFLOPS")),
        (("op/clk", "op/clk"), ("Hz", "MHz"), ("op/s", "TFLOPS")),
    ],
)
def test_a_product_does_not_depend_on_the_order(
    a: tuple[str, str], b: tuple[str, str], result: tuple[str, str]
) -> None:
    """Its unit is one of its dimension."""
    assert product_of(a, b) == product_of(b, a) == result
    assert UNITS[result[1]].dimension == result[0]


def test_a_quotient_of_the_same_is_a_number() -> None:
    """One by a count is itself; work over a rate is a time."""
    assert quotient_of(("B", "MiB"), ("B", "B")) == ("1", "1")
    assert quotient_of(("op/s", "TFLOPS"), ("count", "count")) == ("op/s", "TFLOPS")
    assert quotient_of(("op", "FLOP"), ("op/s", "TFLOPS")) == ("s", "s")


def test_what_is_not_defined_is_refused() -> None:
    """Watts times bytes mean nothing here."""
    with pytest.raises(DimensionError, match="no product of W and B"):
        product_of(("W", "W"), ("B", "B"))
    with pytest.raises(DimensionError, match="no quotient of W by B"):
        quotient_of(("W", "W"), ("B", "B"))
