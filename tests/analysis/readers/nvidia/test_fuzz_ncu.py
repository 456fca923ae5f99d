"""Damaged reports: an error of the project, or the same values outside of the damage."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.corpus

SEEDS = st.integers(0, 2**32)
TEXTS = (
    "ncu-csv/b200_algo64_raw.csv", "ncu-csv/b200_algo64_details.csv", "ncu-csv/rtx4090_readoffset_ca.csv",
    "ncu-csv/rtx4090_reduce.csv", "ncu-csv/t4_copy_blocked_details.csv", "ncu-text/a100_lecture_stdout.txt",
)  # fmt: skip
REPORTS = ("ncu-rep/rtx2060s_ten_launches.ncu-rep", "ncu-rep/rtx4090_readoffset.ncu-rep")
MAY_SHARE = [HealthCheck.function_scoped_fixture]


@pytest.fixture(scope="module")
def originals(profile_corpus, fuzz):
    return cache(lambda name: fuzz.Original(profile_corpus / name))


@settings(max_examples=120, deadline=None, suppress_health_check=MAY_SHARE)
@given(name=st.sampled_from(TEXTS), seed=SEEDS)
def test_damaged_pages(originals, fuzz, tmp_path, name, seed):
    """No traceback, no value that moved."""
    _, faults = fuzz.check(originals(name), seed, tmp_path)
    assert faults == []


@settings(max_examples=25, deadline=None, suppress_health_check=MAY_SHARE)
@given(name=st.sampled_from(REPORTS), seed=SEEDS)
def test_damaged_reports(originals, fuzz, tmp_path, name, seed):
    """The library's silence never becomes a wrong number."""
    pytest.importorskip("ncu_report", reason="reading .ncu-rep needs ncu-report")
    _, faults = fuzz.check(originals(name), seed, tmp_path)
    assert faults == []
