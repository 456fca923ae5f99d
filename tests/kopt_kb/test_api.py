"""The public names: each is there, is lazy, and nothing else is promised."""

from __future__ import annotations

import pytest

import kopt_kb


@pytest.mark.parametrize("name", kopt_kb.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """And says what it is."""
    assert getattr(kopt_kb, name).__doc__


def test_the_list_is_sorted_and_complete() -> None:
    """`dir` shows exactly the promise."""
    assert dir(kopt_kb) == sorted(kopt_kb.__all__)
    assert list(kopt_kb._HOME) == sorted(kopt_kb._HOME)
    assert set(kopt_kb._HOME) == set(kopt_kb.__all__)


def test_other_names_are_attribute_errors() -> None:
    """As in any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = kopt_kb.nonsense
