"""SOLAR's files: rates in multiply-adds a cycle, and products that lack a field it would take for 1."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate.peaks import solar
from kopt_kb.wiki.collect import Collection, Peak


def test_a_rate_times_its_clock_is_the_documented_one(of: Callable[..., Collection]) -> None:
    """Two operations a multiply-add."""
    found = of("H100_SXM")
    body = yaml.safe_load(solar.render(found)["H100_SXM.yaml"])
    peak = found.products[0].rate("bf16", "matrix")
    assert isinstance(peak, Peak)
    assert 2 * body["MAC_per_cycle_bf16_tc"] * body["freq_GHz"] * 1e9 == pytest.approx(float(peak.si))
    assert all(isinstance(value, int | float) for name, value in body.items() if name != "name")


def test_without_a_clock_there_is_no_file(of: Callable[..., Collection]) -> None:
    """SOLAR would compute with 1 GHz."""
    found = of("H20_141GB")
    assert solar.render(found) == {}
    assert solar.lacks(found.products[0]) == "sm_clock is UNKNOWN"


def test_a_file_of_theirs_with_a_slip_of_units(of: Callable[..., Collection]) -> None:
    """FLOP written into a MAC field reads as twice the rate."""
    text = 'name: "H100"\nfreq_GHz: 2  # base\nDRAM_byte_per_cycle: 1000\nMAC_per_cycle_fp16_tc: 378000  # half\n'
    rows = solar.read(text, "f")
    assert [(row.metric, float(row.si), row.where) for row in rows] == [
        ("memory_bandwidth", 2e12, "f:3"),
        ("peak_compute", 1.512e15, "f:4"),
    ]


@pytest.mark.parametrize("text", ["DRAM_byte_per_cycle: 1\n", 'name: "a"\nfreq_GHz: fast\nDRAM_byte_per_cycle: 1\n'])
def test_a_file_that_says_too_little(text: str) -> None:
    """Refused with its place."""
    with pytest.raises(BadInput):
        solar.read(text, "f")
