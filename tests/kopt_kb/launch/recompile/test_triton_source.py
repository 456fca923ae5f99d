"""Claims about honest kernels: real makers, a real second compiler, no GPU."""

from __future__ import annotations

import pytest

from kopt_kb.launch.record.source import CodeBound
from tests.kopt_kb.launch.recompile.sources import HONEST

pytestmark = [pytest.mark.torch, pytest.mark.triton]


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_is_bound(tried: dict[str, CodeBound], name: str) -> None:
    """Constants, helpers of other files, re-exports, branches and decorators included."""
    assert (str(tried[name].source), tried[name].source.detail) == ("bound", "")
