"""Lookups print what is on the line now, split by state."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.lookup import COLUMNS, lookup
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


def test_rows_of_every_state(wiki_root: Path) -> None:
    """A row each, with its line and document; what has no value has no number."""
    found = lookup(Registry.open(wiki_root).platform("T10"))
    rows = found.records()
    assert len(rows) == len(found.specs) + len(found.unknown) + len(found.unsupported) + len(found.ceilings)
    assert all(tuple(row) == COLUMNS for row in rows)
    assert {row["state"] for row in rows} == {"value", "token", "unknown", "none", "ceiling"}
    assert all((row["si_value"] is not None) == (row["state"] in {"value", "ceiling"}) for row in rows)
    assert all(str(row["citation"]).startswith("<gpu-wiki>/") for row in rows)
    assert repr(found) == f"Lookup(T10: {len(found.specs)} values, 1 UNKNOWN, 1 unsupported)"
    text = found._repr_html_()
    assert text.count("<tr>") == len(rows) + 1
    absent = lookup(Registry.open(wiki_root).platform("T10"), "l2_bandwidth")
    assert [(row["state"], row["si_value"]) for row in absent.records()] == [("unknown", None)]


def test_a_registry_says_where_it_reads(wiki_root: Path) -> None:
    """Not its address in memory."""
    assert repr(Registry.open(wiki_root)) == f"Registry({wiki_root})"


def test_a_ceiling_of_the_target_is_no_value(wiki_root: Path) -> None:
    """What the target allows at most stands beside the values; asked for alone, the product's own is UNKNOWN."""
    found = lookup(Registry.open(wiki_root).platform("T10"), "ops_per_clock_per_sm")
    assert (found.specs, found.is_unknown, len(found.ceilings)) == ((), True, 1)
    assert [row["state"] for row in found.records()] == ["ceiling", "unknown"]
    assert [one["key"] for one in found.to_json()["ceilings"]] == [found.ceilings[0].key]
    everything = lookup(Registry.open(wiki_root).platform("T10"))
    assert everything.ceilings == found.ceilings and not any(row.is_ceiling for row in everything.specs)
