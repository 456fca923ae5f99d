"""A run's record becomes a page that the strict reader takes, and only for the device it was made on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.launch.kernel.ceilings import CeilingsRun
from kopt_kb.launch.kernel.idle import LAUNCHES, CacheRecord, IdleRecord
from kopt_kb.launch.machine.ceilings import measured_page, write_measured_page
from kopt_kb.wiki.page import read_page
from kopt_kb.wiki.registry import Registry

DOCUMENT = {
    "command": "kb bench ceilings",
    "environment": {"device": "NVIDIA T10 48GB", "driver_version": "1.2", "torch": "2", "triton": "3", "cuda": "13"},
    "bandwidth": [{"pattern": "copy", "bytes": 10**9, "config": "torch", "median_s": 5.33e-4, "rate_per_s": 1.8765e12, "count": 50, "spread_pct": 0.3}],
    "compute": [
        {"dtype": "fp16", "engine": "matrix", "acc": "fp32", "shape": "64x64x64", "data": "random", "median_s": 5.8e-9, "rate_per_s": 9.01e13, "count": 30, "spread_pct": 1.0}
    ],
    "environment_after": {"device": "NVIDIA T10 48GB"},
}  # fmt: skip
RUN = read(CeilingsRun, DOCUMENT)


def test_the_page_reads_back_without_a_fault() -> None:
    """Rows, grades, conditions; the source is the record."""
    text = measured_page("T10", "NVIDIA", RUN, "benchmarks/run.json", "2026-11-21")
    page = read_page(text.encode(), "measured/t10.md", kind="measured")
    assert page.faults == []
    assert [(row.value, row.unit, row.grade) for row in page.rows] == [
        ("1.877", "TB/s", "measured"),
        ("90.1", "TFLOPS", "measured"),
    ]
    assert page.footnotes["run"].url == "benchmarks/run.json"


def test_launches_and_reads_inside_the_l2_have_rows_of_their_own() -> None:
    """A footprint that half of the L2 does not hold has none: the record keeps it."""
    cached = tuple(CacheRecord(size << 20, 2 << 30, {"BLOCK": 64}, 4e-4, 0.1, 20, 5e12) for size in (8, 16, 32))
    launches = tuple(IdleRecord(by, 2.345e-6, 0.1, 200) for by in LAUNCHES)
    run = replace(RUN, cached=cached, launches=launches, environment={**RUN.environment, "l2_bytes": 50 << 20})
    page = read_page(
        measured_page("T10", "NVIDIA", run, "run.json", "2026-11-21").encode(), "measured/t10.md", kind="measured"
    )
    assert page.faults == []
    assert [row.key for row in page.rows if row.value == "5.000"] == [
        "measured_bandwidth[level=l2;pattern=read;bytes=8388608]",
        "measured_bandwidth[level=l2;pattern=read;bytes=16777216]",
    ]
    assert [(row.key, row.value) for row in page.rows if row.unit == "us"] == [
        (f"measured_launch[by={by}]", "2.35") for by in LAUNCHES
    ]


def test_a_run_grows_by_its_records() -> None:
    """Each kind where it belongs."""
    empty = replace(RUN, bandwidth=(), compute=())
    launch = IdleRecord("host", 1e-6, 0.1, 3)
    cached = CacheRecord(8 << 20, 2 << 30, {}, 4e-4, 0.1, 20, 5e12)
    grown = empty.plus(RUN.bandwidth[0]).plus(RUN.compute[0]).plus(launch).plus(cached)
    assert grown == replace(RUN, launches=(launch,), cached=(cached,))


def test_a_written_page_becomes_a_ceiling(wiki_root: Path) -> None:
    """The platform shows it at once."""
    path, faults = write_measured_page(wiki_root, "T10", RUN, "run.json", "2026-11-21")
    assert (path.name, list(faults)) == ("t10.md", [])
    value = (
        Registry.open(wiki_root).platform("T10").require("measured_bandwidth[level=dram;pattern=copy;bytes=1000000000]")
    )
    assert (str(value), value.grades()) == ("1.877 TB/s", {"measured"})


def test_a_run_above_the_sheet_is_reported(wiki_root: Path) -> None:
    """2.1 TB/s on a part of 2.0 TB/s is a fault of the page."""
    run = replace(RUN, bandwidth=(replace(RUN.bandwidth[0], rate_per_s=2.1e12),))
    _, faults = write_measured_page(wiki_root, "T10", run, "run.json", "2026-11-21")
    assert any("PHY-ACHIEVED-BW" in fault for fault in faults)


def test_another_device_is_refused(wiki_root: Path) -> None:
    """A run belongs to the product whose driver name it carries."""
    with pytest.raises(BadInput, match="NVIDIA T10 48GB"):
        write_measured_page(wiki_root, "T10", replace(RUN, environment={"device": "NVIDIA X"}), "r", "2026-11-21")


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| measured_")]


def test_the_shipped_page_is_the_shipped_records(repo_root: Path) -> None:
    """All rows of the first run, and those of the second whose keys the first lacks; nothing typed."""
    made: dict[str, list[str]] = {}
    for name, label in (("ceilings_h200_sxm", "run"), ("ceilings_h200_sxm_2", "again")):
        path = f"benchmarks/results/{name}.json"
        run = read(CeilingsRun, json.loads((repo_root / path).read_text()))
        rows = _rows(measured_page("H200_SXM", "NVIDIA", run, path, "2026-11-21"))
        made[label] = [row.replace("[^run]", f"[^{label}]") for row in rows]
    page = _rows((repo_root / "gpuwiki/measured/h200_sxm.md").read_text())
    first = {tuple(row.split("|")[1:5:3]) for row in made["run"]}
    later = [row for row in made["again"] if tuple(row.split("|")[1:5:3]) not in first]
    assert len(later) > 10
    assert sorted(page) == sorted([*made["run"], *later])
