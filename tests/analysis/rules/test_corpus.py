"""Verdicts on public reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.classify import classify

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize(
    ("report", "limiters"),
    [
        ("ncu-csv/b200_algo64_raw.csv", {"small-grid"}),
        ("ncu-csv/b200_algo64_details.csv", {"small-grid"}),
        ("ncu-csv/t4_copy_blocked_details.csv", {"dram"}),
        ("ncu-csv/rtx4090_readoffset_ca.csv", {"insufficient-data"}),
        ("rocprofv3-csv/csc_kernel_trace_rocm62.csv", {"insufficient-data"}),
    ],
)
def test_csv_reports(report: str, limiters: set[str], profile_corpus: Path) -> None:
    """Sixty-four blocks on 148 SMs, a copy, and reports that hold no throughput."""
    assert {classify(one).limiter for one in read_profiles(profile_corpus / report)} == limiters


@pytest.mark.parametrize(
    ("report", "limiters"),
    [
        ("h100_rmsnorm", {"dram"}),
        ("t4_matadd", {"dram"}),
        ("rtx3070_scan", {"barrier"}),
        ("rtx4090_transpose", {"uncoalesced", "dram"}),
        ("b200_int8_gemm_algo64", {"small-grid"}),
    ],
)
def test_binary_reports(report: str, limiters: set[str], profile_corpus: Path) -> None:
    """Row-wise and element-wise kernels stream, a naive transpose wastes sectors, a scan waits at barriers."""
    pytest.importorskip("ncu_report")
    file = profile_corpus / "ncu-rep" / f"{report}.ncu-rep"
    assert {classify(one).limiter for one in read_profiles(file)} == limiters
