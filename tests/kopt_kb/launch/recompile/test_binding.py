"""Claims about records and their source: real makers, a real second compiler, no GPU."""

from __future__ import annotations

import pytest

from kopt_kb.launch.record.source import CodeBound
from tests.kopt_kb.launch.recompile.sources import TRICKS

pytestmark = [pytest.mark.torch, pytest.mark.triton]


@pytest.mark.parametrize("name", TRICKS)
def test_a_record_of_something_else_is_unbound(tried: dict[str, CodeBound], name: str) -> None:
    """With the reason of the closed list."""
    assert tried[name].source.reason == TRICKS[name][1], tried[name].source.detail
