"""Words for where a number comes from."""

from __future__ import annotations

from kopt_kb.tuning.page.provenance import cited, machine, named, of_record, of_records
from tests.kopt_kb.tuning.page.conftest import ROOT, state_of


def test_a_value_names_its_line_grade_and_document() -> None:
    """As the README prints it, with what the README has no room for."""
    state = state_of(ROOT / "h200_sxm" / "rms_norm_2")
    row = state.specs["memory_bandwidth"]
    text = cited(row)
    assert text.startswith("memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/hardware/nvidia/h200_sxm.md:L57 (grade ")
    assert row.source in text


def test_a_time_names_its_records_and_its_machine() -> None:
    """One record with its spread; several by their ids."""
    state = state_of(ROOT / "h200_sxm" / "rms_norm_2")
    best = state.best
    assert best is not None
    text = of_records(state, best, "8192x4096")
    assert text.startswith("median of 3 records: v1.timing.1:v1:8192x4096:1, ")
    assert "NVIDIA H200, driver 580.159.04 (event 5)" in text
    assert of_records(state, best, "1x1") == ""
    one = best.own_records["8192x4096"]
    assert f"record {one.id}: 100 timed runs; mad " in of_record(state, one)
    assert machine(state, 9999) == "event 9999"


def test_many_ids_are_counted() -> None:
    """Eight are named."""
    assert named(map(str, range(3))) == "0, 1, 2"
    assert named(map(str, range(20))).endswith("7 and 12 more")
