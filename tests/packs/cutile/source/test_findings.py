"""A target's number is read from its name."""

from __future__ import annotations

from kopt_kb.packs.cutile.source.findings import TileTarget


def test_a_number_of_a_name() -> None:
    """0 where none is known."""
    assert (TileTarget("sm_90").capability, TileTarget().capability) == (90, 0)
