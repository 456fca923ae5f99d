"""The policy cutile."""

from __future__ import annotations

from kopt_kb.packs.cutile.policy import cutile


def test_its_numbers() -> None:
    """25 iterations of 600 s, a plateau of two, and root causes that a person looks at."""
    loop = cutile()
    assert (loop.max_rounds, loop.round_s, loop.plateau_rounds) == (25, 600, 2)
    assert loop.escalates == ("scheduling", "unknown")
    assert (loop.full_gain_pct, loop.last_gain_pct, loop.least_trust) == (5, 2, "replayed")
