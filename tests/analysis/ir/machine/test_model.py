"""Claims about the scan result."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.model import IsaResources, IsaScan, IsaTally


def test_counts_are_in_a_stable_order():
    """Most frequent first, ties by name."""
    tally = IsaTally("k")
    tally.features.update({"wait": 1, "barrier": 1, "shuffle": 5})
    assert list(IsaScan.of(tally, "sass", "sm_90").features) == ["shuffle", "barrier", "wait"]


def test_counting_by_space_kind_and_width():
    """Loads and copies add up; narrower ones drop out."""
    tally = IsaTally("k")
    for width, times in ((128, 3), (32, 1)):
        for _ in range(times):
            tally.add_access("global", "load", width)
    tally.add_access("global", "copy", 128)
    scan = IsaScan.of(tally, "sass", "sm_80")
    assert scan.count("global", ("load", "copy")) == 5
    assert scan.count("global", ("load", "copy"), at_least_bits=64) == 4
    assert scan.wide_share("global", ("load", "copy"), bits=128) == 0.8


@pytest.mark.parametrize(
    ("resources", "spills"),
    [
        (IsaResources(), None),
        (IsaResources(spill_store_bytes=0, spill_load_bytes=0), False),
        (IsaResources(spill_store_bytes=4, spill_load_bytes=0), True),
        (IsaResources(spilled_registers=1), True),
    ],
)
def test_unknown_spills_are_not_zero(resources, spills):
    """Nothing said is None; zero said is False."""
    assert resources.spills is spills


@pytest.mark.parametrize(("feature", "tma"), [("tma_load", True), ("bulk_copy", False)])
def test_tma_is_the_tensor_form(feature, tma):
    """A plain bulk copy is not a tensor copy."""
    tally = IsaTally("k")
    tally.features[feature] += 1
    assert IsaScan.of(tally, "sass", "sm_90").uses_tma is tma
