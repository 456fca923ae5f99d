"""Wrong values met in public tables: each is flagged with its error class, the right value is accepted.

`tests/data/known_wrong/values.json` holds platform, metric, conditions, the wrong value, the class, the kind of place it
was seen in, and the key of our row that is right.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.registry.differences import compare_row
from kopt_kb.registry.explain import CLASSES
from kopt_kb.registry.foreign import ForeignRow, foreign_row
from kopt_kb.registry.registry import Registry
from kopt_kb.registry.row import Row

FIXTURES = json.loads((Path(__file__).parents[2] / "data/known_wrong/values.json").read_text())
FIELDS = ("platform", "metric", "conditions", "value", "unit")


@pytest.fixture(scope="module")
def registry() -> Registry:
    """The shipped wiki."""
    return Registry.open()


def wrong(fixture: dict[str, str]) -> ForeignRow:
    """The wrong value as a foreign table would print it."""
    return foreign_row({name: fixture[name] for name in FIELDS}, "known_wrong")


def right(registry: Registry, fixture: dict[str, str]) -> Row:
    """Our row."""
    return registry.platform(fixture["platform"]).sheet.chosen()[fixture["right"]]


def test_there_are_forty() -> None:
    """At least, no two alike, of many classes."""
    assert len(FIXTURES) >= 40
    assert len({tuple(one[name] for name in FIELDS) for one in FIXTURES}) == len(FIXTURES)
    assert len({one["error"] for one in FIXTURES}) >= 12
    assert {one["error"] for one in FIXTURES} <= set(CLASSES)


@pytest.mark.core
@pytest.mark.parametrize("share", [Fraction(1), Fraction(98, 100), Fraction(102, 100)], ids=str)
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda one: f"{one['platform']}-{one['metric']}-{one['value']}")
def test_wrong_values_are_flagged_with_their_class(
    registry: Registry, fixture: dict[str, str], share: Fraction
) -> None:
    """Also two per cent off, as other roundings print them."""
    row = wrong(fixture)
    found = compare_row(registry, replace(row, value=row.value * share))
    assert found.state == "disagrees"
    assert fixture["error"] in [one.kind for one in found.explanations]


@pytest.mark.core
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda one: f"{one['platform']}-{one['metric']}-{one['value']}")
def test_right_values_are_accepted(registry: Registry, fixture: dict[str, str]) -> None:
    """Our own row, as a foreign table with the same conditions; a part that lacks it has no right number."""
    ours = right(registry, fixture)
    if ours.kind == "none":
        assert fixture["error"] == "zero"
        return
    same = {**fixture, "value": ours.value, "unit": ours.unit}
    assert compare_row(registry, wrong(same)).state == "agrees"
