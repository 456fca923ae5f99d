"""The pack cluster among the packs."""

from __future__ import annotations

from kopt_kb.base.installed import extra_of
from kopt_kb.packs.cluster.pack import PACK


def test_its_extras_are_this_distributions() -> None:
    """Those that its engines name, and what they bring is what the pack calls its own."""
    assert {worker.extra for worker in PACK.workers} == set(PACK.extras)
    assert {extra_of(word) for word in PACK.words} == set(PACK.extras)
