"""Confirmations and floors on simulated devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import FindingError
from kopt_kb.launch.judge.confirm import confirm, measure_floor

Records = Callable[..., Path]


def test_confirmation_in_fresh_processes(lab: Any, record: Records) -> None:
    """Three contests, each with judges of its own; all have to accept."""
    old, new = {"4": record("plusone__us100")}, {"4": record("plusone__us95")}
    good = confirm(lab.judges(), old, new)
    assert good.confirmed and len(good.contests) == 3
    assert good.ratio == pytest.approx(0.95, abs=0.005)
    assert len(lab.started) == 6
    bad = confirm(lab.judges(), old, {"4": record("wrong__us50")}, times=2)
    assert (bad.confirmed, bad.ratio) == (False, None)


def test_the_floor_is_what_a_kernel_gains_over_itself(lab: Any, record: Records) -> None:
    """Small where nothing differs; without a look there is none."""
    floor = measure_floor(lab.judges(), {"4": record("plusone__us100")})
    assert 0 < floor < 0.005
    assert len(lab.started) == 6
    with pytest.raises(FindingError, match="no floor: (incumbent|candidate): differs"):
        measure_floor(lab.judges(), {"4": record("wrong__us100")})
