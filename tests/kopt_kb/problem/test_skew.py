"""Rows of experts in the four distributions that a grouped product is validated with."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.skew import DISTRIBUTIONS, is_skewed, rows_per_expert


@pytest.mark.parametrize("experts", [2, 3, 8, 64])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_rows_add_up_and_are_the_same_again(name: str, experts: int) -> None:
    """No row is lost, the global generator is not touched."""
    groups = rows_per_expert(name, 1000, experts, 7)  # type: ignore[arg-type]
    assert (sum(groups), len(groups)) == (1000, experts)
    assert groups == rows_per_expert(name, 1000, experts, 7)  # type: ignore[arg-type]
    assert min(groups) >= 0


def test_what_each_stands_for() -> None:
    """Even; one expert with half of all and one without any; capacity is never passed."""
    assert set(rows_per_expert("uniform", 64, 8)) == {8}
    dominant = rows_per_expert("dominant", 1001, 8)
    assert dominant[0] >= 501
    assert dominant[-1] == 0
    assert max(rows_per_expert("top1", 800, 9)) <= 112
    assert [is_skewed(rows_per_expert(name, 800, 8)) for name in DISTRIBUTIONS] == [False, True, True, True]
    assert not is_skewed(())


def test_too_few_rows() -> None:
    """Are refused."""
    with pytest.raises(BadInput):
        rows_per_expert("uniform", 3, 8)
