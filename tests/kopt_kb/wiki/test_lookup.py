"""Lookups print what is on the line now, split by state."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.lookup import lookup
from kopt_kb.wiki.registry import Registry


def test_states_are_kept_apart(wiki_root: Path) -> None:
    """Values, UNKNOWN, NONE and rejected rows."""
    found = lookup(Registry.open(wiki_root).platform("T10"))
    assert {row.kind for row in found.specs} == {"value", "token"}
    assert [row.key.split("]")[0].split("=")[1].split(";")[0] for row in found.unknown] == ["bf16"]
    assert [row.kind for row in found.unsupported] == ["none"]
    assert [row.value for row in found.rejected] == ["2.2"]
    assert not found.is_unknown


def test_conditions_narrow(wiki_root: Path) -> None:
    """A subset of axes is enough."""
    found = lookup(Registry.open(wiki_root).platform("T10"), "peak_compute", dtype="fp16", sparsity="2:4")
    assert [row.value for row in found.specs] == ["204.8"]


def test_a_metric_without_a_row_is_unknown(wiki_root: Path) -> None:
    """With its key, without a citation."""
    found = lookup(Registry.open(wiki_root).platform("T10"), "board_power")
    assert found.is_unknown
    assert found.to_json()["unknown"] == [
        {
            "metric": "board_power",
            "key": "board_power",
            "conditions": {},
            "reason": "no row in the wiki",
            "citation": None,
        }
    ]


def test_a_whole_lookup_refuses_any_fault(wiki_root: Path, product: Path) -> None:
    """All that was asked for has to hold; other metrics can still be asked for by name."""
    product.write_text(product.read_text().replace("| 48 | GB", "| 47 | GB"))
    platform = Registry.open(wiki_root).platform("T10")
    with pytest.raises(WikiFaults):
        lookup(platform)
    assert lookup(platform, "memory_bandwidth").specs


def test_the_line_is_read_again(wiki_root: Path, product: Path) -> None:
    """A page that changes between compiling and printing is noticed."""
    platform = Registry.open(wiki_root).platform("T10")
    assert platform.sheet
    content = platform.wiki.read("hardware/nvidia/t10.md")
    assert content is not None
    platform.wiki._bytes["hardware/nvidia/t10.md"] = content.replace(b"| 48 | GB", b"| 49 | GB")
    with pytest.raises(WikiFaults, match="no longer holds"):
        lookup(platform, "memory_capacity")


def test_json_carries_source_and_hash(wiki_root: Path) -> None:
    """Title, locator, url, day read, as the contract names them."""
    (spec,) = lookup(Registry.open(wiki_root).platform("T10"), "memory_capacity").to_json()["specs"]
    assert (spec["value"], spec["text"], spec["unit"], spec["si_value"], spec["si_unit"]) == (
        48,
        "48",
        "GB",
        48 * 10**9,
        "B",
    )
    assert {"title", "locator", "url", "read"} <= set(spec["source"])
    assert len(spec["row_sha256"]) == 12
