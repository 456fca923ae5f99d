"""Reports read and judged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kopt_kb.analysis.readers.common.errors import NoKernelMatches
from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.judged import judge, judge_reports
from kopt_kb.wiki.registry import Registry


@pytest.fixture
def report(repo_root: Path, tmp_path: Path) -> str:
    """A recording of our own."""
    kept = min((repo_root / "benchmarks" / "limiters").rglob("*.raw.csv.gz"))
    file = tmp_path / "report.csv"
    file.write_bytes(gzip.decompress(kept.read_bytes()))
    return str(file)


def test_kernels_come_by_their_time_with_verdict_and_product(report: str) -> None:
    """Both functions say the same; a pattern leaves others out."""
    registry = Registry.open()
    found = judge_reports([report], None, registry)
    assert found.kernels
    times = [one.profile.duration_s or 0.0 for one in found.kernels]
    assert times == sorted(times, reverse=True) or len(times) > 1
    assert all(one.verdict is not None for one in found.kernels)
    assert judge([report], None, registry) == (found.reports, found.kernels)
    with pytest.raises(NoKernelMatches):
        judge([report], "no such kernel", registry)


def test_another_product_than_the_reports_is_refused(report: str) -> None:
    """What the file names goes before what the user says."""
    registry = Registry.open()
    with pytest.raises(BadInput):
        judge([report], None, registry, registry.platform("MI300X"))
