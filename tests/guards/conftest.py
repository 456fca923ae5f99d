"""Lets go of what all guards share, once the last is through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.guards.trees import nodes_of, tree_of


@pytest.fixture(scope="package", autouse=True)
def _trees_are_dropped() -> Iterator[None]:
    yield
    tree_of.cache_clear()
    nodes_of.cache_clear()
