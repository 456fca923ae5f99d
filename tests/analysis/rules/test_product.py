"""Which product a report was recorded on, and who may say so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.analysis.rules.product import product_of
from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.registry import Registry
from tests.analysis.rules.conftest import profile_of


@pytest.mark.parametrize(
    ("device", "product"),
    [("NVIDIA H100 PCIe", "H100_PCIE"), ("MI300X_A1", "MI300X"), ("AMD Instinct MI350X", "MI350X"),
     ("MI350", None), ("Agent 4", None), ("", None)],
)  # fmt: skip
def test_the_report_names_the_product(device: str, product: str | None) -> None:
    """Names that drivers and profilers print; a family or an agent is no product."""
    found = product_of(replace(profile_of(), device=device), Registry.open())
    assert (found.id if found else None) == product


@pytest.mark.parametrize(
    ("device", "target"), [("NVIDIA H100 PCIe", "sm_90"), ("AMD Instinct MI300X", "gfx942"), ("", "gfx942")]
)
def test_a_contradiction_is_an_error(device: str, target: str) -> None:
    """No roof of an H200 for another product, even of the same target."""
    registry = Registry.open()
    profile = replace(profile_of(), device=device, target=target)
    with pytest.raises(BadInput, match="contradicts the report"):
        product_of(profile, registry, registry.platform("H200_SXM"))


@pytest.mark.parametrize(("device", "target"), [("", ""), ("", "sm_90"), ("Agent 4", ""), ("NVIDIA H200", "sm_90")])
def test_a_report_that_says_less_takes_the_callers_word(device: str, target: str) -> None:
    """Nothing named, the target alone, or the very product."""
    registry = Registry.open()
    profile = replace(profile_of(), device=device, target=target)
    found = product_of(profile, registry, registry.platform("H200_SXM"))
    assert found is not None
    assert found.id == "H200_SXM"
