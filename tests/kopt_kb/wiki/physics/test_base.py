"""Looking rows up by conditions, and comparing with a border that belongs to the pass."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kopt_kb.wiki.physics import RULES
from kopt_kb.wiki.physics.base import PRODUCT_TOLERANCE, Facts, compare, one, rows, value, within


def test_rows_of_other_scopes_are_not_the_gpu(sheet_of) -> None:
    """A node's bandwidth is only found when asked for."""
    facts = Facts(sheet_of("memory_bandwidth 2.0 TB/s", "memory_bandwidth 16 TB/s scope=node"))
    assert [row.value for row in rows(facts, "memory_bandwidth")] == ["2.0"]
    assert value(facts, "memory_bandwidth", scope="node") == 16 * 10**12


def test_several_values_are_none(sheet_of) -> None:
    """Two different clocks of one class are no clock."""
    facts = Facts(sheet_of("sm_clock 1 GHz class=max;ops=all", "sm_clock 2 GHz class=max;ops=matrix"))
    assert one(facts, "sm_clock", **{"class": "max"}) is None
    assert value(facts, "sm_clock", **{"class": "max"}, ops="all") == 10**9


@pytest.mark.parametrize(("share", "inside"), [("0.98", True), ("1.02", True), ("0.9799", False), ("1.0201", False)])
def test_the_border_is_inside(share: str, inside: bool) -> None:
    """Exactly 2 % passes."""
    assert within(Fraction(share), Fraction(1), PRODUCT_TOLERANCE) is inside


def test_findings_say_the_deviation(sheet_of) -> None:
    """In per cent, with its sign."""
    (row,) = rows(Facts(sheet_of("memory_bandwidth 2.2 TB/s")), "memory_bandwidth")
    finding = compare(row, Fraction(2 * 10**12), PRODUCT_TOLERANCE, "the formula")
    assert (finding.outcome, "+10.0 %" in finding.detail) == ("fail", True)


def test_rule_codes_are_physics_codes() -> None:
    """One prefix, no product or value in a name."""
    assert all(name.startswith("PHY-") and not any(c.isdigit() for c in name) for name in RULES)


def test_a_value_against_nothing_fails_without_a_division(sheet_of) -> None:
    """An expected 0 has no per cent: it is a failure in words."""
    (row,) = rows(Facts(sheet_of("memory_bandwidth 2.2 TB/s")), "memory_bandwidth")
    assert compare(row, Fraction(0), PRODUCT_TOLERANCE, "the formula").outcome == "fail"
