"""JSON of values: SI numbers beside the printed form, states instead of nulls without a word."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from kopt_kb.wiki.json import number_json, quantity_json
from kopt_kb.wiki.registry import Registry


def test_integers_stay_integers() -> None:
    """A rational that is none becomes the nearest float."""
    assert number_json(Fraction(4 * 10**12)) == 4_000_000_000_000
    assert isinstance(number_json(Fraction(4 * 10**12)), int)
    assert number_json(Fraction(1, 3)) == 1 / 3


def test_states(wiki_root: Path) -> None:
    """Value, UNKNOWN and NONE."""
    platform = Registry.open(wiki_root).platform("T10")
    value = quantity_json(platform.get("memory_bandwidth"))
    assert (value["value"], value["unit"], value["si_value"], value["si_unit"], value["grades"]) == (
        2.0,
        "TB/s",
        2 * 10**12,
        "B/s",
        ["vendor"],
    )
    assert quantity_json(platform.get("peak_compute", dtype="bf16"))["state"] == "UNKNOWN"
    assert quantity_json(platform.get("peak_compute", dtype="fp8"))["state"] == "NONE"
