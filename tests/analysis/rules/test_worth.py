"""What a finding is worth, by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.worth import worth_of

Made = Callable[..., DerivedMetrics]


@pytest.mark.parametrize(
    ("limiter", "metrics", "value"),
    [
        ("divergence", {"threads_per_instruction": 8.0, "issue_active": 0.8}, 60.0),
        ("divergence", {"threads_per_instruction": 16.0, "issue_active": 0.8, "wave_threads": 64.0}, 60.0),
        ("dram", {"dram_sol_pct": 85.0}, 15.0),
        ("fp32", {"pipe_elapsed__fma_pct": 70.0}, 30.0),
        ("bank-conflict", {"pipe_elapsed__lds_pct": 80.0, "shared_conflicts": 30.0, "shared_accesses": 30.0}, 40.0),
        ("occupancy-registers", {"issue_active": 0.3}, 70.0),
    ],
)
def test_estimates(made: Made, limiter: str, metrics: dict[str, float], value: float) -> None:
    """Idle lanes of busy slots, what a unit is short of, conflicts in use, empty slots."""
    found = worth_of(made(**metrics), Finding("BN-X", limiter, ()))
    assert found is not None
    assert found.time_pct == pytest.approx(value)


def test_evidence_gives_the_estimate(made: Made) -> None:
    """Idle SMs of a small grid; a verdict without counters is worth nothing that could be told."""
    idle = Finding("BN-SMALL-GRID", "small-grid", (Evidence("idle_sm_pct", 94.0, "%"),))
    found = worth_of(made(), idle)
    assert found is not None
    assert str(found).startswith("at most 94 % of the time (")
    assert worth_of(made(), Finding("BN-DATA", "insufficient-data", ())) is None


def test_every_worth_is_a_share(zoo: dict[str, KernelProfile]) -> None:
    """Over all recordings, for the primary finding and those behind it."""
    for one in zoo.values():
        assert all(0 <= worth.time_pct <= 100 for worth in classify(one).worth.values())
