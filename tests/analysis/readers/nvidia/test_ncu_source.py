"""Stall samples by instruction, against the recorded numbers."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers import read_profiles


@pytest.mark.corpus
def test_hot_spots_of_a_real_report(profile_corpus):
    """Both loads of a row-wise norm: their consumers wait for them, and samples add up to the report's totals."""
    pytest.importorskip("ncu_report")
    (profile,) = read_profiles(profile_corpus / "ncu-rep" / "h100_rmsnorm.ncu-rep", source=True)
    first, second = profile.hot_spots[:2]
    assert (first.instruction, first.unit, next(iter(first.reasons))) == (
        "FCHK P0, R0, R3",
        "samples",
        "long_scoreboard",
    )
    assert first.waits_for.startswith("LDG.E R0, desc[UR8][R14.64] at 0x")
    assert second.waits_for.startswith("LDG.E R3,")
    raw = profile.launches[0].raw["smsp__pcsamp_warps_issue_stalled_long_scoreboard"].value
    assert sum(one.reasons.get("long_scoreboard", 0) for one in profile.hot_spots) == raw


@pytest.mark.corpus
def test_a_report_without_samples_says_what_to_record(profile_corpus):
    """`--set basic` has none."""
    pytest.importorskip("ncu_report")
    (profile,) = read_profiles(profile_corpus / "ncu-rep" / "b200_int8_gemm_algo64.ncu-rep", source=True)
    assert profile.hot_spots == ()
    assert any("--section SourceCounters" in note for note in profile.notes)
