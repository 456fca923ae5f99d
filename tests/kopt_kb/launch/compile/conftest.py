"""One warm compile worker for all tests of the folder."""

from __future__ import annotations

import pytest

from kopt_kb.launch.compile.pool import CompilePool


@pytest.fixture(scope="session")
def pool():
    """A worker that stays warm between tests."""
    pytest.importorskip("triton")
    with CompilePool(time_limit_s=600.0) as one:
        yield one
