"""GEAK's page: what its parser finds in ours, and what ours finds in theirs."""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml

from kopt_kb.packs.curate.peaks import geak
from kopt_kb.wiki.collect import Collection


def _blocks(text: str) -> list[dict[str, object]]:
    return [yaml.safe_load(body) for body in re.findall(r"```yaml\s*\n(.*?)```", text, re.DOTALL)]


def test_one_product_answers_for_its_target(of: Callable[..., Collection]) -> None:
    """Without a second product of the target the block has no `product:`, as its lookup wants."""
    (block,) = _blocks(geak.render(of("MI355X"))["peaks.md"])
    assert block["gfx"] == "gfx950" and "product" not in block
    assert block["flops"]["bf16"] == block["flops"]["fp16"]
    assert isinstance(block["hbm_bw_bytes_s"], float)


def test_two_products_of_a_target_are_told_apart(of: Callable[..., Collection]) -> None:
    """Neither inherits the other's rates; RDNA 4 is looked up by product alone."""
    both = _blocks(geak.render(of("MI350X", "MI355X"))["peaks.md"])
    assert [one["product"] for one in both] == ["mi350x", "mi355x"]
    (client,) = _blocks(geak.render(of("RX_9070_XT"))["peaks.md"])
    assert client["product"] == "rx_9070_xt"


def test_unknown_is_said_and_no_number(of: Callable[..., Collection]) -> None:
    """A rate nobody prints is a comment, so their parser has no key."""
    text = geak.render(of("MI308X"))["peaks.md"]
    (block,) = _blocks(text)
    assert "hbm_bw_bytes_s" not in block
    assert "# hbm_bw_bytes_s: UNKNOWN: " in text


def test_products_of_nvidia_are_left_out_with_the_reason(of: Callable[..., Collection]) -> None:
    """GEAK asks for gfx targets alone."""
    found = of("H20")
    assert geak.render(found) == {}
    assert "gfx" in geak.lacks(found.products[0])


THEIRS = """## gfx950
```yaml
gfx: gfx950
cu: 256
hbm_bw_bytes_s: 8.0e12        # HBM3E
flops:
  fp32: 1.57e14
  bf16: 2.5e15
l2_bytes: 4194304
```
"""


def test_their_own_page_is_read() -> None:
    """Rates without a citation are dense ones of the matrix units; a key of two meanings is no value."""
    assert geak.recognises(THEIRS)
    rows = geak.read(THEIRS, "peaks.md")
    assert [(row.platform, row.metric, row.text, row.where) for row in rows] == [
        ("gfx950", "sm_count", "256", "peaks.md:4"),
        ("gfx950", "memory_bandwidth", "8.0e12", "peaks.md:5"),
        ("gfx950", "peak_compute", "1.57e14", "peaks.md:7"),
        ("gfx950", "peak_compute", "2.5e15", "peaks.md:8"),
    ]
