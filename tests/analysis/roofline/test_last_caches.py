"""Claims about what the caches of real products may hold back."""

from __future__ import annotations

from kopt_kb.analysis.roofline.last_caches import last_caches
from kopt_kb.wiki.registry import Registry

REGISTRY = Registry.open()
MIB = 2**20


def test_products_with_one_level_two_none_and_an_unknown_one() -> None:
    """H100: the whole chip's L2. MI300X: both levels. MI250X: an Infinity Cache it lacks (NONE). MI455X: UNKNOWN."""
    found = {name: last_caches(REGISTRY.platform(name)) for name in ("H100_SXM", "MI300X", "MI250X", "MI455X")}
    assert {name: one.held for name, one in found.items()} == {
        "H100_SXM": 60 * MIB, "MI300X": 288 * MIB, "MI250X": 16 * MIB, "MI455X": None,
    }  # fmt: skip
    assert [one.partition(":")[0] for one in found["MI300X"].citations] == ["l2_capacity", "llc_capacity"]
