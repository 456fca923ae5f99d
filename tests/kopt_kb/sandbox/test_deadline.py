"""The seconds that are left: never more than was asked for, never less than something."""

from __future__ import annotations

import math
import time

import pytest

from kopt_kb.sandbox.deadline import left_s

pytestmark = pytest.mark.core


def test_what_is_left_is_bounded_and_its_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinite where nothing bounds it; at the end there is nothing to wait for."""
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    assert [left_s(110.0), left_s(110.0, 3.0), left_s(math.inf), left_s(math.inf, 3.0)] == [10.0, 3.0, math.inf, 3.0]
    for ends_at in (100.0, 99.0):
        with pytest.raises(TimeoutError, match="the time is over"):
            left_s(ends_at, 3.0)
