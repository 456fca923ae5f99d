"""A collection of the invented wiki and one of the packaged wiki."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.wiki.collect import Collection, collect
from kopt_kb.wiki.registry import Registry
from tests.kopt_kb.wiki.conftest import invented  # noqa: F401


@pytest.fixture
def of() -> Callable[..., Collection]:
    """Products of the packaged wiki."""
    return lambda *names: collect(Registry.open(), names)
