"""A name means one product or none; nothing is guessed."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.names import AmbiguousPlatform, Identity, NameIndex, UnknownPlatform, fold


def identity(platform: str, **lists: tuple[str, ...]) -> Identity:
    """A product with the given names."""
    return Identity(platform, "NVIDIA", platform, "Hopper", "sm_90", f"hardware/nvidia/{platform.lower()}.md", **lists)


INDEX = NameIndex(
    (
        identity("H20", family=("H20",), near=("H20_141GB",)),
        identity("H20_141GB", near=("H20",)),
        identity("H100_SXM", aliases=("NVIDIA H100 80GB HBM3",)),
        identity("H100_PCIE", aliases=("NVIDIA H100 PCIe",)),
        identity("B200", aliases=("NVIDIA B200",)),
        identity("GB200"),
    )
)


@pytest.mark.parametrize("name", ["H20", "h20", " H20 ", "NVIDIA H20", "nvidia-h20"])
def test_case_blanks_and_vendor_do_not_matter(name: str) -> None:
    """The family name belongs to the 96 GB part."""
    assert INDEX.resolve(name).platform == "H20"


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        ("NVIDIA H100 80GB HBM3", "H100_SXM"),
        ("H100 PCIe", "H100_PCIE"),
        ("h100-sxm", "H100_SXM"),
        ("H100PCIe", "H100_PCIE"),
    ],
)
def test_driver_names_resolve(name: str, platform: str) -> None:
    """What nvidia-smi prints names one product."""
    assert INDEX.resolve(name).platform == platform


def test_a_family_nobody_owns_is_ambiguous() -> None:
    """H100 lists SXM and PCIe."""
    with pytest.raises(AmbiguousPlatform) as caught:
        INDEX.resolve("H100")
    assert caught.value.candidates == ("H100_PCIE", "H100_SXM")


def test_names_are_never_translated() -> None:
    """GB200 is not B200, and B20 is neither."""
    assert INDEX.resolve("GB200").platform == "GB200"
    with pytest.raises(UnknownPlatform, match="no page for platform 'B20'"):
        INDEX.resolve("B20")
    with pytest.raises(UnknownPlatform):
        INDEX.resolve("")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("H1OO SXM", "H100_SXM"), ("H100 SMX", "H100_SXM"), ("H100_PCEI", "H100_PCIE")],
)
def test_a_slip_of_spelling_gets_a_suggestion(name: str, meant: str) -> None:
    """Letters turned round, a separator left out or put in."""
    with pytest.raises(UnknownPlatform) as caught:
        INDEX.resolve(name)
    assert caught.value.fix == f"did you mean {meant}?"


@pytest.mark.parametrize("name", ["B20", "B300", "B200A", "H20A", "H21", "GB20", "H1000_SXM", "XB200", "SXM", "PCIe"])
def test_another_number_is_another_product(name: str) -> None:
    """A neighbour is never offered for a part that the wiki does not have."""
    with pytest.raises(UnknownPlatform) as caught:
        INDEX.resolve(name)
    assert "did you mean" not in (caught.value.fix or "")


def test_siblings_are_listed() -> None:
    """H20 is easily taken for H20_141GB."""
    assert INDEX.siblings(INDEX.resolve("H20")) == ("H20_141GB",)


def test_a_name_claimed_twice_is_a_fault() -> None:
    """Both pages are named."""
    twice = NameIndex((identity("A", aliases=("NVIDIA X",)), identity("B", aliases=("x",))))
    (fault,) = twice.faults()
    assert (fault.code, "A, B" in fault.message) == ("WK403", True)


def test_fold_removes_vendor_words_repeatedly() -> None:
    """AMD Instinct is two words."""
    assert fold("AMD Instinct MI300X") == "mi300x"


def test_a_family_of_one_page_is_named_and_not_taken() -> None:
    """H100 had three parts; with one page the others are not that one."""
    with pytest.raises(UnknownPlatform, match="of these H100_SXM alone has a page"):
        NameIndex((identity("H100_SXM"),)).resolve("H100")


def test_a_capacity_does_not_choose_within_a_family() -> None:
    """Both H100 have 80 GB."""
    with pytest.raises(AmbiguousPlatform) as caught:
        INDEX.resolve("H100-80GB")
    assert caught.value.candidates == ("H100_PCIE", "H100_SXM")


@pytest.mark.parametrize(("name", "meant"), [("mi300", "MI300X"), ("4090", "RTX_4090")])
def test_beginnings_and_numbers_are_suggested(name: str, meant: str) -> None:
    """Never taken."""
    with pytest.raises(UnknownPlatform, match=rf"did you mean {meant}\?"):
        NameIndex((identity("MI300X"), identity("RTX_4090"), identity("MI100"))).resolve(name)


def test_a_name_of_two_parts_names_both() -> None:
    """What ROCm prints for the boards of both."""
    with pytest.raises(AmbiguousPlatform) as caught:
        NameIndex((identity("MI250X"), identity("MI250"))).resolve("AMD Instinct MI250X/MI250")
    assert caught.value.candidates == ("MI250X", "MI250")
