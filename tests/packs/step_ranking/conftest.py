from __future__ import annotations

import pytest

from kopt_kb.wiki.registry import Registry


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.open()
