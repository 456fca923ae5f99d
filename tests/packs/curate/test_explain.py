"""Error classes on the invented wiki: each is found by arithmetic or by a row, none by a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.curate.differences import compare_row
from kopt_kb.wiki.foreign_row import foreign_row
from kopt_kb.wiki.registry import Registry

PEAK = "peak_compute[dtype={};engine={};sparsity={}]"


def classes(wiki_root: Path, metric: str, value: str, unit: str, platform: str = "T10") -> list[str]:
    """Classes of a foreign value."""
    row = foreign_row({"platform": platform, "metric": metric, "value": value, "unit": unit}, "f:1")
    return [one.kind for one in compare_row(Registry.open(wiki_root), row).explanations]


@pytest.mark.parametrize(
    ("metric", "value", "unit", "kind"),
    [
        (PEAK.format("fp16", "matrix", "dense"), "204.8", "TFLOPS", "sparse-as-dense"),
        (PEAK.format("fp16", "matrix", "2:4"), "102.4", "TFLOPS", "dense-as-sparse"),
        (PEAK.format("fp32", "vector", "dense"), "102.4", "TFLOPS", "other-dtype"),
        (PEAK.format("fp16", "matrix", "dense"), "51.2", "TFLOPS", "halved"),
        (PEAK.format("fp16", "matrix", "dense"), "819.2", "TFLOPS", "per-system"),
        (PEAK.format("fp16", "matrix", "dense"), "102.4", "PFLOPS", "unit-prefix"),
        (PEAK.format("fp16", "matrix", "dense"), "0", "TFLOPS", "zero"),
        (PEAK.format("fp8", "matrix", "dense"), "204.8", "TFLOPS", "part-lacks-it"),
        ("memory_bandwidth", "2.2", "TB/s", "rejected-here"),
        ("memory_bandwidth", "4.0", "TB/s", "doubled"),
        ("memory_bandwidth", "2147", "GB/s", "binary-prefix"),
        ("memory_bandwidth", "16", "TB/s", "per-system"),
        ("memory_bandwidth", "2.9", "TB/s", "unexplained"),
        ("sm_count", "99", "count", "close"),
        ("sm_count", "120", "count", "unexplained"),
    ],
)
def test_each_class(wiki_root: Path, metric: str, value: str, unit: str, kind: str) -> None:
    """The invented sheet: 102.4 dense, 204.8 sparse, 25.6 on the lanes, 2.0 TB/s with 2.2 rejected."""
    assert kind in classes(wiki_root, metric, value, unit)


def test_other_products_are_named(wiki_root: Path) -> None:
    """The sibling with twice the memory."""
    page = wiki_root / "hardware/nvidia/t10_pro.md"
    page.write_text(
        page.read_text().replace(
            '48 | GB | - | vendor | [^sheet] memory row quote="48GB"',
            '96 | GB | - | vendor | [^sheet] memory row quote="96GB"',
        )
    )
    row = foreign_row({"platform": "T10", "metric": "memory_capacity", "value": "96", "unit": "GB"}, "f:1")
    found = compare_row(Registry.open(wiki_root), row)
    assert {one.kind: one.detail for one in found.explanations}["other-product"].startswith("T10_PRO")


def test_a_family_rate_is_named(wiki_root: Path) -> None:
    """A part with half the SMs and a cut rate, listed with the architecture's rate times its SMs."""
    page = wiki_root / "hardware/nvidia/t10_pro.md"
    text = page.read_text().replace("102.4", "30.4").replace("204.8", "60.8")
    text = text.replace(
        '| sm_count | 100 | count | - | vendor | [^sheet] table 1 quote="100 SMs"',
        '| sm_count | 50 | count | - | vendor | [^sheet] table 1 quote="50 SMs"',
    )
    text = text.replace(
        '| sm_clock | 1000 | MHz | class=boost; ops=all | vendor | [^sheet] table 1 quote="1,000 MHz"',
        "| sm_clock | UNKNOWN | MHz | class=boost; ops=all | - | -",
    ).replace(
        "UNKNOWN | MHz | class=boost; ops=all | - | - | |",
        "UNKNOWN | MHz | class=boost; ops=all | - | - | reason: not printed |",
    )
    text = "\n".join(line for line in text.split("\n") if "| 25.6 |" not in line)
    page.write_text(text)
    found = classes(wiki_root, PEAK.format("fp16", "matrix", "dense"), "51.2", "TFLOPS", "T10_PRO")
    assert "family-rate" in found
