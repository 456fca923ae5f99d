"""What programs may ask of a device comes from rows, and only from rows."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.counts.device_facts import device_facts, target_facts
from kopt_kb.wiki.registry import Registry


def test_facts_come_from_rows(wiki_root: Path) -> None:
    """The invented product has 100 SMs and 50 MiB of L2; what its page does not say is left out."""
    facts = device_facts(Registry.open(wiki_root).platform("T10"))
    assert facts["multi_processor_count"] == 100
    assert facts["L2_cache_size"] == 50 * 1024 * 1024
    assert "regs_per_multiprocessor" not in facts


def test_a_target_alone_has_what_all_its_products_share() -> None:
    """Warp size and shared memory are facts of sm_90, the number of SMs is one of a product; an unknown target has none."""
    registry = Registry.open()
    hopper, cdna = target_facts(registry, "sm_90"), target_facts(registry, "gfx942")
    product = device_facts(registry.platform("H100_SXM"))
    assert {one: product[one] for one in hopper} == hopper
    assert "multi_processor_count" in product
    assert "multi_processor_count" not in hopper
    assert cdna["shared_memory_per_block_optin"] == cdna["shared_memory_per_block"]
    assert target_facts(registry, "sm_999") == {}
