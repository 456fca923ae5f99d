"""Quotes convert to the value they print, with the vendor's spellings, and to no other."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.quotes import quote_supports, twice_printed
from kopt_kb.wiki.vocabulary import METRICS

SUPPORTED = [
    ("148 TFLOPS", "148", "TFLOPS", "peak_compute"),
    ("1,979 teraFLOPS*", "1979", "TFLOPS", "peak_compute"),
    ("989.4/1978.9", "1978.9", "TFLOPS", "peak_compute"),
    ("2.5 PF", "2.5", "PFLOPS", "peak_compute"),
    ("2.5 PF", "2500", "TFLOPS", "peak_compute"),
    ("4.0TB/s", "4.0", "TB/s", "memory_bandwidth"),
    ("3352 GB/sec", "3.352", "TB/s", "memory_bandwidth"),
    ("50 MB", "50", "MiB", "l2_capacity"),
    ("4MB", "4", "MiB", "l2_capacity"),
    ("65,536 KB", "64", "MiB", "l2_capacity"),
    ("80GB HBM3", "80", "GB", "memory_capacity"),
    ("5120-bit", "5120", "bit", "memory_bus_width"),
    ("64K 32-bit registers", "65536", "count", "registers_per_block"),
    ("contains four SIMDs", "4", "count", "simds_per_sm"),
    ("1,980 MHz", "1980", "MHz", "sm_clock"),
    ("1.98 GHz", "1980", "MHz", "sm_clock"),
    ("up to 700W (configurable)", "700", "W", "board_power"),
    ("6.4 Gbps", "6.4", "Gbit/s", "memory_data_rate"),
    ("HBM3e", "HBM3e", "-", "memory_type"),
    ("Yes", "yes", "-", "memory_ecc"),
    ("OCP FP8", "ocp", "-", "fp8_format"),
    ("NVIDIA H20 | 2329 10DE 198B", "10de:2329", "-", "pci_id"),
    ("physical: 29858", "1002:74a2", "-", "pci_id"),
]

REFUSED = [
    ("149 TFLOPS", "148", "TFLOPS", "peak_compute"),
    ("1.48 TFLOPS", "148", "TFLOPS", "peak_compute"),
    ("148 GFLOPS", "148", "TFLOPS", "peak_compute"),
    ("4.0 GB/s", "4.0", "TB/s", "memory_bandwidth"),
    ("3.35TB/s", "3.3", "TB/s", "memory_bandwidth"),
    ("50 GB", "50", "MiB", "l2_capacity"),
    ("80 GiB", "80", "GB", "memory_capacity"),
    ("HBM3e", "HBM3", "-", "memory_type"),
    ("HBM3 memory", "3", "count", "memory_stacks"),
    ("thirteen", "3", "count", "memory_stacks"),
    ("E4M3FNUZ", "ocp", "-", "fp8_format"),
    ("NVIDIA H20 | 2328", "10de:2329", "-", "pci_id"),
    ("physical: 29859", "1002:74a2", "-", "pci_id"),
    ("", "148", "TFLOPS", "peak_compute"),
]


@pytest.mark.parametrize(("quote", "value", "unit", "metric"), SUPPORTED)
def test_printed_cells_support_their_value(quote: str, value: str, unit: str, metric: str) -> None:
    """Spellings, commas, footnote marks, binary KB and MB of caches, and neighbours in a cell are understood."""
    assert quote_supports(quote, value, unit, METRICS[metric])


@pytest.mark.parametrize(("quote", "value", "unit", "metric"), REFUSED)
def test_other_values_are_not_supported(quote: str, value: str, unit: str, metric: str) -> None:
    """One digit, a prefix or a neighbouring word off is no support."""
    assert not quote_supports(quote, value, unit, METRICS[metric])


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("201310208(0xbffc000) KB", ""),
        ("201310028(0xbffc000) KB", "201310028 is not 0xbffc000"),
        ("25,165,824 bytes (24 MB)", ""),
        ("12582912 bytes (24 MB)", "12582912 bytes are not 24 MB"),
        ("50331648 bytes (50.3 MB)", ""),
        ("40 MB (5120 bit)", ""),
        ("99960750080B RAM", ""),
    ],
)
def test_what_is_printed_twice_is_printed_alike(quote: str, said: str) -> None:
    """Hexadecimal beside decimal is exact, megabytes beside bytes are rounded either way."""
    assert twice_printed(quote) == said
