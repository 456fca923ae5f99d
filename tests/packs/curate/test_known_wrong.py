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

from kopt_kb.packs.curate.differences import compare_row, diff
from kopt_kb.packs.curate.explain import CLASSES
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.row import Row

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


def every_row(registry: Registry, *metrics: str) -> list[ForeignRow]:
    """The wiki's own value rows as a foreign table."""
    found = []
    for name in registry.platforms():
        for row in registry.platform(name).sheet.chosen().values():
            if row.kind == "value" and (not metrics or row.metric in metrics):
                fields = {"platform": name, "metric": row.metric, "value": row.value, "unit": row.unit}
                found.append(foreign_row({**fields, "conditions": dict(row.axes)}, f"{row.path}:{row.line}"))
    return found


@pytest.mark.core
def test_the_wiki_agrees_with_itself(registry: Registry) -> None:
    """No row of ours is flagged against ours."""
    rows = every_row(registry)
    assert len(rows) > 1000
    assert [one.row.where for one in diff(registry, rows, "ours").rows if one.state != "agrees"] == []


@pytest.mark.parametrize("factor", [2, 8, 1000])
def test_plain_factors_are_never_unexplained(registry: Registry, factor: int) -> None:
    """Every ninth peak and bandwidth, multiplied: disagrees, with a class."""
    rows = [replace(row, value=row.value * factor) for row in every_row(registry, "peak_compute", "memory_bandwidth")]
    found = [one for one in diff(registry, rows[::9], "scaled").rows if one.state != "agrees"]
    assert len(found) > 50
    assert {one.state for one in found} <= {"disagrees", "not-comparable"}
    assert all(one.explanations[0].kind != "unexplained" for one in found if one.state == "disagrees")
