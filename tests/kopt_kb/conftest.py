"""Fixtures that several folders share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kopt_kb.runners.replay.makers import Makers


@pytest.fixture(scope="session")
def makers() -> Iterator[Makers]:
    """Two warm makers for all tests of a session: each imports torch and triton once."""
    with Makers(2) as two:
        yield two
