"""Numbers that somebody puts in through the library: none of them becomes a ceiling, floor or target."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from kopt_kb import Quantity, Registry, roofline, work
from kopt_kb.base.errors import KoptError
from kopt_kb.quantity.quantity import Absent, Cited, Counted, Derived, Given, Unknown, counted, given
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row

H20 = Registry.open().platform("H20")
ROW = H20.require("memory_bandwidth")
CITED = ROW.origin
assert isinstance(CITED, Cited)
HALF = given(Fraction(1, 2), "1", "share", is_policy=True)
DERIVED = HALF * ROW
assert isinstance(DERIVED, Quantity)


def _set(quantity: Quantity, name: str, value: object) -> Quantity:
    changed = copy.copy(quantity)
    object.__setattr__(changed, name, value)
    return changed


# ruff: noqa: PLW0108 - what raises is the arithmetic too, not the last call alone
TRIES: dict[str, Callable[[], object]] = {
    "value replaced": lambda: replace(ROW, si=3 * ROW.si).as_ceiling(),
    "value replaced by itself, print changed": lambda: replace(ROW, text="10.8").as_ceiling(),
    "unit replaced": lambda: replace(ROW, unit="GB/s").as_ceiling(),
    "origin of another row": lambda: replace(ROW, origin=H20.require("l2_capacity").origin).as_ceiling(),
    "origin taken": lambda: Quantity(3 * ROW.si, "B/s", "TB/s", CITED).as_ceiling(),
    "origin taken, value right": lambda: Quantity(ROW.si, "B/s", "TB/s", CITED, ROW.text).as_ceiling(),
    "origin made": lambda: Quantity(
        ROW.si, "B/s", "TB/s", Cited("memory_bandwidth", "vendor", CITED.citation)
    ).as_ceiling(),
    "derived made": lambda: Quantity(9 * ROW.si, "B/s", "TB/s", Derived("x", (ROW,))).as_ceiling(),
    "derived replaced": lambda: replace(DERIVED, si=9 * ROW.si).as_ceiling(),
    "derived of nothing": lambda: Quantity(ROW.si, "B/s", "TB/s", Derived("4 TB/s", ())).as_ceiling(),
    "parent replaced": lambda: (HALF * replace(ROW, si=9 * ROW.si)).as_ceiling(),
    "parent of a parent": lambda: (HALF * (HALF * replace(ROW, si=9 * ROW.si))).as_ceiling(),
    "sum with a forgery": lambda: (ROW + replace(ROW, si=2 * ROW.si)).as_ceiling(),
    "seal copied": lambda: replace(replace(ROW, si=9 * ROW.si), _seal=ROW._seal).as_ceiling(),
    "seal guessed": lambda: Quantity(9 * ROW.si, "B/s", "TB/s", CITED, "", hash((ROW.si, CITED))).as_ceiling(),
    "set in place": lambda: _set(ROW, "si", 9 * ROW.si).as_ceiling(),
    "unit set in place": lambda: _set(ROW, "unit", "PB/s").as_ceiling(),
    "dimension set in place": lambda: _set(ROW, "dimension", "op/s").as_ceiling(),
    "origin set in place": lambda: _set(given(Fraction(9), "TB/s", "x"), "origin", CITED).as_ceiling(),
    "given": lambda: given(Fraction(9), "TB/s", "flag").as_ceiling(),
    "counted": lambda: counted(9, "B", "bytes").as_ceiling(),
    "given times a row": lambda: (given(Fraction(3), "1", "flag") * ROW).as_ceiling(),
    "policy above one": lambda: (given(Fraction(10), "1", "target factor", is_policy=True) * ROW).as_ceiling(),
    "policy of nothing": lambda: (given(Fraction(0), "1", "target factor", is_policy=True) * ROW).as_ceiling(),
    "negative policy": lambda: (given(Fraction(-1), "1", "target factor", is_policy=True) * ROW).as_ceiling(),
    "policy made": lambda: Quantity(Fraction(1), "B/s", "TB/s", Given("factor", is_policy=True)).as_ceiling(),
    "count as origin": lambda: Quantity(ROW.si, "B/s", "TB/s", Counted("bytes", "exact")).as_ceiling(),
    "converted after a change": lambda: replace(ROW, si=9 * ROW.si).to("GB/s").as_ceiling(),
    "divided by a share": lambda: (ROW / replace(HALF, si=Fraction(1, 9))).as_ceiling(),
    "aim of ten": lambda: roofline(work("rms_norm", (8192, 4096), "bf16"), H20, aim=Fraction(10)),
    "aim of a float": lambda: roofline(work("rms_norm", (8192, 4096), "bf16"), H20, aim=10.0),  # type: ignore[arg-type]
    "negative aim": lambda: roofline(work("rms_norm", (8192, 4096), "bf16"), H20, aim=Fraction(-1)),
    "aim of nothing": lambda: roofline(work("rms_norm", (8192, 4096), "bf16"), H20, aim=Fraction(0)),
}


@pytest.mark.parametrize("name", TRIES)
def test_a_number_that_was_put_in_is_refused(name: str) -> None:
    """By an error that says so, whatever way it came."""
    with pytest.raises(KoptError):
        TRIES[name]()


def test_what_the_wiki_and_arithmetic_give_is_a_ceiling() -> None:
    """In any unit, copied, and computed again."""
    assert len(TRIES) >= 30
    for one in (ROW, ROW.to("GB/s"), DERIVED, copy.deepcopy(ROW), (HALF * DERIVED).to("GB/s"), ROW + ROW):
        assert isinstance(one, Quantity)
        assert one.as_ceiling() is one


class Boasting(Platform):
    """A product of somebody's own that answers what its author likes."""

    def quantity(self, row: Row) -> Quantity | Unknown | Absent:
        """Return three times what the page says."""
        found = super().quantity(row)
        return replace(found, si=3 * found.si) if isinstance(found, Quantity) else found


def test_a_product_of_somebodys_own_gets_no_target() -> None:
    """A subclass that changes what the page says is refused where its value would become a roof."""
    with pytest.raises(KoptError):
        roofline(work("rms_norm", (8192, 4096), "bf16"), Boasting(H20.wiki, H20.identity))
