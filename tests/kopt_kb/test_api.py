"""The public names: each is there, is lazy, and nothing else is promised."""

from __future__ import annotations

from importlib import metadata

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
    assert {*kopt_kb._HOME, "__version__"} == set(kopt_kb.__all__)


def test_other_names_are_attribute_errors() -> None:
    """As in any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = kopt_kb.nonsense


def test_the_version_is_that_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """And `unknown` where nothing is installed."""
    assert kopt_kb.__version__ == metadata.version("kopt-kb")

    def missing(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert kopt_kb.__version__ == "unknown"
