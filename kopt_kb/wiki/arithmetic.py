"""Routes of arithmetic: as how many products of narrower types a product of wide matrices can be computed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.faults import Fault, WikiFaults
from kopt_kb.wiki.resolve import quantity_of
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.wiki import Wiki

__all__ = ["ROUTES", "ArithmeticRoute", "arithmetic_routes"]

ROUTES = "routes/products.md"
"""The page of a wiki that has them."""

_PRODUCTS, _BITS = "route_products", "route_bits"


@dataclass(frozen=True, slots=True)
class ArithmeticRoute:
    """One way to compute a product of wide matrices.

    Attributes:
        name: `one`, `x3`, `slices2`, `moduli10`.
        dtype: Type that is multiplied.
        products: How many products of that type stand for one.
        bits: Significant bits of the operands that it keeps at most.
    """

    name: str
    dtype: str
    products: Quantity
    bits: Quantity

    @property
    def cost(self) -> Fraction:
        """How many products of the type stand for one, exact."""
        return self.products.si

    @property
    def words(self) -> str:
        """The route in words: `one product of tf32`, `3 products of bf16`."""
        return f"{'one product' if self.cost == 1 else f'{self.cost} products'} of {self.dtype}"

    @property
    def citations(self) -> tuple[str, ...]:
        """The rows that it rests on: its cost, then its bits."""
        return (self.products.citation_texts[0], self.bits.citation_texts[0])


def arithmetic_routes(wiki: Wiki) -> tuple[ArithmeticRoute, ...]:
    """Return the routes of a wiki, in the order of their page; none where it has no such page.

    Raises:
        WikiFaults: The page has a fault, or a route lacks its cost or its bits: no floor rests on it.
    """
    sheet = wiki.common(ROUTES)
    if sheet is None:
        return ()
    if sheet.faults:
        raise WikiFaults(tuple(sheet.faults))
    rows = sheet.chosen()
    return tuple(_route(wiki, sheet, row) for row in rows.values() if row.metric == _PRODUCTS)


def _route(wiki: Wiki, sheet: Sheet, row: Row) -> ArithmeticRoute:
    bits = sheet.chosen().get(row.key.replace(_PRODUCTS, _BITS, 1))
    values = [quantity_of(wiki, sheet, one, sheet.title) for one in (row, bits) if one is not None]
    found = [one for one in values if isinstance(one, Quantity)]
    if len(found) != len((_PRODUCTS, _BITS)):
        text = f"the route of {row.key} has no {_BITS}"
        raise WikiFaults((Fault("WK201", row.path, row.line, text, f"write both {_PRODUCTS} and {_BITS}", row.key),))
    axes = dict(row.axes)
    return ArithmeticRoute(axes["route"], axes["dtype"], *found)
