"""What rules return."""

from __future__ import annotations

from kopt_kb.analysis.rules.base import Finding


def test_a_finding_knows_its_class() -> None:
    """The limiter decides."""
    assert Finding("BN-TAIL", "tail", ()).bottleneck == "latency-bound"
