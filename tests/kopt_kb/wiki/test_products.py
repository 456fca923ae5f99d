"""Names in texts: exact products, families, targets, and hardware without a page."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.products import ProductNames
from kopt_kb.wiki.registry import Registry


@pytest.fixture(scope="module")
def names() -> ProductNames:
    """Of the packaged wiki."""
    return ProductNames(Registry.open())


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        ("NVIDIA H100 SXM5 80GB", "H100_SXM"),
        ("H100-PCIe", "H100_PCIE"),
        ("H100", "H100_NVL,H100_PCIE,H100_SXM"),
        ("A100 80GB", "A100_PCIE_80GB,A100_SXM_80GB"),
        ("A100 PCIe 40GB", ""),
        ("h100_peak_tflops", "H100_NVL,H100_PCIE,H100_SXM"),
        ("RTX 5070 Ti", "RTX_5070_TI"),
        ("RTX5070", "RTX_5070"),
        ("RTX 5080 Super", ""),
        ("MI308X", "MI308X"),
        ("RTX 4070", ""),
        ("Gaudi 3", ""),
        ("GB200 NVL72", ""),
        ("GB200 NVL72 (per GPU)", "GB200"),
    ],
)
def test_a_name_means_these_pages(names: ProductNames, text: str, platforms: str) -> None:
    """None for hardware without a page: its numbers are nobody else's."""
    (mention,) = names.mentions(text)
    assert ",".join(sorted(mention.platforms)) == platforms


@pytest.mark.parametrize("text", ["t4 = a10 + l4", "h100.py", "GA100X", "the V100 generation of MH100s", "XA100"])
def test_what_is_no_name(names: ProductNames, text: str) -> None:
    """Variables, files, parts of words, and a name that only some variants of have a page."""
    assert not [one for one in names.mentions(text) if one.platforms]


def test_names_are_blanked_out(names: ProductNames) -> None:
    """The form factor of a card says nothing of its host link."""
    assert names.without("the H100 PCIe bus").split() == ["the", "bus"]


def test_a_target_means_all_its_products(names: ProductNames) -> None:
    """However it is spelled."""
    for text in ("sm_90", "sm90"):
        (mention,) = names.mentions(text)
        assert mention.platforms >= {"H100_SXM", "H20", "H200_SXM"} and "B200" not in mention.platforms
