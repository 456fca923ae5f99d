"""How a foreign value stands to ours: agrees, disagrees, UNKNOWN here, or not comparable and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.curate.differences import compare_row, diff
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row
from kopt_kb.wiki.registry import Registry


def row(metric: str, value: str, unit: str, platform: str = "T10") -> ForeignRow:
    """A foreign value."""
    return foreign_row({"platform": platform, "metric": metric, "value": value, "unit": unit}, "f:1")


FP16 = "peak_compute[dtype=fp16;engine=matrix;sparsity=dense]"


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (row("memory_bandwidth", "2000", "GB/s"), "agrees"),
        (row("memory_bandwidth", "2.02", "TB/s"), "agrees"),
        (row("memory_bandwidth", "2.021", "TB/s"), "disagrees"),
        (row("memory_capacity", "48", "GiB"), "agrees"),
        (row("l2_capacity", "50", "MB"), "agrees"),
        (row("l2_capacity", "51", "MB"), "disagrees"),
        (row("sm_count", "100", "count"), "agrees"),
        (row("sm_count", "101", "count"), "disagrees"),
        (row(FP16, "102.4", "TFLOPS"), "agrees"),
        (row("peak_compute[dtype=bf16;engine=matrix;sparsity=dense]", "102.4", "TFLOPS"), "unknown"),
        (row("peak_compute[dtype=fp8;engine=matrix;sparsity=dense]", "0", "TFLOPS"), "disagrees"),
        (row("peak_compute", "102.4", "TFLOPS"), "not-comparable"),
        (row("peak_compute[dtype=fp16]", "102.4", "TFLOPS"), "not-comparable"),
        (row("memory_stacks", "5", "count"), "not-comparable"),
        (row("sm_count", "100", "count", "T99"), "not-comparable"),
        (row("memory_bandwidth[scope=node]", "16", "TB/s"), "not-comparable"),
    ],
)
def test_states(wiki_root: Path, one: ForeignRow, state: str) -> None:
    """1 % is the border of rates; counts and cache sizes are exact; a bare number is refused."""
    assert compare_row(Registry.open(wiki_root), one).state == state


def test_an_unstated_accumulator_that_decides_is_not_comparable(wiki_root: Path, product: Path) -> None:
    """Ours differ by accumulator: the foreign table has to say which."""
    text = product.read_text()
    line = next(line for line in text.split("\n") if "| 102.4 |" in line)
    slow = line.replace("102.4", "51.2").replace("acc=fp32", "acc=fp64")
    product.write_text(text.replace(line, f"{line}\n{slow}"))
    registry = Registry.open(wiki_root)
    assert compare_row(registry, row(FP16, "102.4", "TFLOPS")).state == "not-comparable"
    stated = row("peak_compute[dtype=fp16;engine=matrix;sparsity=dense;acc=fp32]", "102.4", "TFLOPS")
    assert compare_row(registry, stated).state == "agrees"


def test_names_are_mapped_only_when_told(wiki_root: Path) -> None:
    """A foreign name that is none of ours is not guessed."""
    one = row("sm_count", "100", "count", "Card X")
    registry = Registry.open(wiki_root)
    assert diff(registry, [one], "t").counts == {"not-comparable": 1}
    assert diff(registry, [one], "t", {"Card X": "T10"}).counts == {"agrees": 1}


def test_json_lists_what_does_not_agree(wiki_root: Path) -> None:
    """With our citation and every class."""
    body = diff(
        Registry.open(wiki_root), [row("sm_count", "100", "count"), row("memory_bandwidth", "4", "TB/s")], "t"
    ).to_json()
    assert body["counts"] == {"agrees": 1, "disagrees": 1}
    (one,) = body["differences"]
    assert one["ours"]["citation"].startswith("memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:L")
    assert next(c["class"] for c in one["classes"]) == "doubled"
