"""What to record next, as commands."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.rules.classify import classify
from tests.analysis.rules.conftest import profile_of

AMD = ReportSource("trace.db", "rocpd", "rocprofv3", "amd")


def test_ncu_for_a_report_without_counters() -> None:
    """The kernel by name; a verdict that names a unit asks for nothing."""
    (command,) = classify(profile_of()).recording
    assert command.startswith("ncu --set full --kernel-name regex:k ")
    assert classify(profile_of(dram_sol_pct=90.0)).recording == ()


def test_amd_reports_ask_for_amd_counters() -> None:
    """No name of another vendor: what is missing on this target, in passes that fit."""
    bare = replace(profile_of(), source=AMD, target="gfx942", name="ck::gemm<8>(int)", demangled="ck::gemm<8>(int)")
    verdict = classify(bare)
    text = " ".join((*verdict.recording, *verdict.absent))
    assert "SQ_VALU_MFMA_BUSY_CYCLES" in text
    assert "TCC_EA0_RDREQ_sum" in text
    assert "stall.long_scoreboard" not in text
    assert all("--kernel-include-regex gemm " in one for one in verdict.recording)
    some = replace(bare, metrics={"pipe_elapsed.tensor_pct": 1.0})
    assert "SQ_VALU_MFMA_BUSY_CYCLES" not in " ".join(classify(some).recording)
