"""A device is a product by the name its driver prints, never by its family."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.devices import product_of
from kopt_kb.wiki.registry import Registry


@pytest.mark.parametrize(
    ("device", "product"),
    [
        ("NVIDIA H200", "H200_SXM"),
        ("NVIDIA H200 NVL", "H200_NVL"),
        ("NVIDIA H20", "H20"),
        ("AMD Instinct MI300X VF", "MI300X"),
        ("10de:2329", "H20"),
        ("10DE:232C", "H20_141GB"),
        ("1002:74a2", "MI308X"),
        ("10de:ffff", ""),
        ("NVIDIA H100", ""),
        ("simulator", ""),
        ("", ""),
    ],
)
def test_names_of_the_packaged_wiki(device: str, product: str) -> None:
    """Aliases find their page; a bare family name, a made-up one and none do not."""
    assert product_of(Registry.open(), device) == product


def test_a_family_name_is_no_product(wiki_root: Path) -> None:
    """T10's alias is its own; `T10` is its id; its sibling's id is its sibling's."""
    registry = Registry.open(wiki_root)
    found = [product_of(registry, name) for name in ("NVIDIA T10 48GB", "nvidia t10", "T10 Pro", "NVIDIA T11")]
    assert found == ["T10", "T10", "T10_PRO", ""]
