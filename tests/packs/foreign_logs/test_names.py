"""Names of columns and members mean the same in every form."""

from __future__ import annotations

import pytest

from kopt_kb.packs.foreign_logs.names import is_claim, is_metric, plain_name, role_of, seconds_in, unit_of


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Round", "round"), ("experiment", "round"), ("#", "round"), ("kernel_type", "item"), ("Task_ID", "item"),
        ("CUDA_Speedup_Native", "speedup"), ("vs Baseline", "speedup"), ("cumulative_speedup", "cumulative"),
        ("CUDA_Runtime", "time"), ("PyTorch_Native_Runtime", "baseline time"), ("baseline_ms", "baseline time"),
        ("Forward Time (ms)", "time"), ("throughput_tflops", "throughput"), ("Fwd Peak TFLOPS", "throughput"),
        ("pct_peak", "share"), ("peak_fraction", "share"), ("performance_target", "target"), ("Forward TFLOPS_stddev", "spread"),
        ("runtime_stats_std", "spread"), ("num_trials", "repeats"), ("Correct", "check"), ("Check", "check"), ("out_snr", "check"),
        ("Max_Diff", "check"), ("status", "decision"), ("git_commit", "source"), ("CUDA_Code", "source"), ("patch", "source"),
        ("timestamp", "none"), ("output_tokens", "none"), ("colour", "other"),
    ],
)  # fmt: skip
def test_roles(name: str, role: str) -> None:
    """One table for Markdown, CSV, TSV, JSON and JSONL."""
    assert role_of(name) == role


def test_units_stand_in_names() -> None:
    """A time is in the unit that its name says."""
    assert (unit_of("latency_us"), unit_of("runtime (ms)"), unit_of("status")) == ("us", "ms", "")
    assert seconds_in(3.0, "latency_us") == pytest.approx(3e-6)
    assert plain_name("bestPatchSpeedup") == "best_patch_speedup"


def test_a_claim_has_a_speed_and_something_it_is_judged_by() -> None:
    """A profile's durations are no claim, a count of registers is no speed."""
    assert is_claim(["time", "check"])
    assert not is_claim(["time", "item"])
    assert is_metric("primary score")
    assert not is_metric("vgpr spill")
