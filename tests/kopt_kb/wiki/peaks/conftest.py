"""A collection of the invented wiki and one of the packaged wiki."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.wiki.peaks.collect import Collection, collect
from kopt_kb.wiki.registry import Registry


@pytest.fixture
def invented(wiki_root: Path) -> Collection:
    """One product of the invented wiki."""
    return collect(Registry.open(wiki_root), ["T10"])


@pytest.fixture
def of() -> Callable[..., Collection]:
    """Products of the packaged wiki."""
    return lambda *names: collect(Registry.open(), names)
