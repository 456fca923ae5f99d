"""The harness has a hash of its own for kernel files and for projects."""

from __future__ import annotations

from kopt_kb.tuning.harness import harness_hash


def test_hashes() -> None:
    """Stable, of full length, and different for what measures differently."""
    assert harness_hash() == harness_hash() and len(harness_hash()) == 64
    assert harness_hash() != harness_hash(of_project=True)
