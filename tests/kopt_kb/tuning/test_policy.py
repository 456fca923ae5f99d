"""A policy refuses what can't be meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.tuning.policies import POLICIES
from kopt_kb.tuning.policy import GATES

BASE = POLICIES["primus"]


def test_gates_have_one_order() -> None:
    """Cheap and certain gates come before those that need the device."""
    assert GATES == ("lint", "limits", "build", "correctness", "timing", "roofline", "evidence")


@pytest.mark.parametrize(
    "change",
    [{"repeats": 2}, {"repeats": 0, "small_gain_repeats": 0}, {"max_rounds": 0}, {"required_gates": ("magic",)}],
)
def test_impossible_values_are_refused(change: dict[str, object]) -> None:
    """Fewer repeats than its own rules need, no rounds, or a gate that does not exist."""
    with pytest.raises(BadInput, match="policy primus"):
        replace(BASE, **change)


def test_core_shapes() -> None:
    """Without a declaration every shape is a core shape."""
    assert BASE.is_core("1x2")
    declared = replace(BASE, core_shapes=("1x2",))
    assert (declared.is_core("1x2"), declared.is_core("3x4")) == (True, False)


def test_json() -> None:
    """All fields, tuples as lists."""
    assert BASE.to_json()["name"] == "primus"
    assert "evidence" not in BASE.to_json()["required_gates"]
