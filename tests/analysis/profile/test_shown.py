"""Kernels as rows and blocks."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.profile.shown import COLUMNS, profile_blocks, record_of
from kopt_kb.analysis.readers import read_profiles
from kopt_kb.base.markup.blocks import FactsBlock, TableBlock

LIBRARY = Path(__file__).resolve().parents[2] / "data" / "zoo" / "library.csv"


def test_a_kernel_is_a_row() -> None:
    """Its own columns first, then every metric; what the report does not name is None."""
    profile = next(iter(read_profiles(LIBRARY)))
    record = record_of(profile)
    assert tuple(record)[: len(COLUMNS)] == COLUMNS
    assert record["kernel"] == profile.function
    assert record["device"] is None
    assert record["grid"] == "2x66x1"
    assert {name: record[name] for name in profile.metrics} == {**profile.metrics}


def test_a_kernel_shows_its_metrics() -> None:
    """Each with its unit."""
    profile = next(iter(read_profiles(LIBRARY)))
    facts, metrics = profile_blocks(profile)
    assert isinstance(facts, FactsBlock)
    assert isinstance(metrics, TableBlock)
    assert len(metrics.rows) == len(profile.metrics)
    assert dict(facts.rows)["launches"] == "1, median 1.38 ms"
    assert (
        repr(profile) == f"KernelProfile({profile.function}: 1 launch, median 1.38 ms, {len(profile.metrics)} metrics)"
    )
    assert "<table>" in profile._repr_html_()
