"""Kernels as text: order, shares, groups, helpers, what the profiler found."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.analysis.profile import DurationStats, HotSpot, KernelProfile, ReportPlace, ReportSource, StoredRule
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.cli.kit.judged_text import JudgedKernel, by_time, render

NCU = ReportSource("r.ncu-rep", "ncu-rep", "ncu", "nvidia", "2025.1.0.0")


def kernel(name: str, total_s: float, **metrics: float) -> JudgedKernel:
    """A kernel of one launch."""
    stats = DurationStats(1, total_s, total_s, total_s, total_s)
    profile = KernelProfile(name, name, NCU, ReportPlace("r", "row 1"), 1, {"duration_s": total_s, **metrics}, stats)
    return JudgedKernel(profile, classify(profile))


def test_kernels_stand_by_total_time_with_their_share() -> None:
    """The longest first; a report without times keeps its order and shows none."""
    judged = by_time([kernel("short", 1e-3, dram_sol_pct=90.0), kernel("long", 3e-3, dram_sol_pct=90.0)])
    assert [one.profile.name for one in judged] == ["long", "short"]
    assert [one.time_share for one in judged] == [0.75, 0.25]
    lines = render(judged).splitlines()
    assert lines[0].split()[:4] == ["kernel", "launches", "total", "share"]
    assert lines[1].split()[:6] == ["long", "1", "3", "ms", "75", "%"]


def test_equal_verdicts_share_a_block() -> None:
    """Two kernels bound by DRAM: one block, their time together, the advice once."""
    judged = [
        kernel("a", 2e-3, dram_sol_pct=90.0),
        kernel("b", 1e-3, dram_sol_pct=80.0),
        kernel("c", 1e-3, l2_sol_pct=90.0),
    ]
    text = render(by_time(judged))
    assert "Limiter: dram (2 kernels, 75 % of the time)" in text
    assert text.count("advice/dram.md") == text.count("[High]") * 2
    assert text.index("Limiter: dram") < text.index("Limiter: l2")


def test_helpers_of_the_runtime_stand_apart() -> None:
    """Fills and copies of the runtime get a table of their own and no advice."""
    text = render([kernel("gemm", 1e-3, dram_sol_pct=90.0), kernel("__amd_rocclr_fillBufferAligned", 1e-3)])
    table, _, rest = text.partition("Helpers of the runtime:")
    assert "__amd_rocclr" not in table
    assert "Limiter: insufficient-data" not in rest


def test_what_the_profiler_found_is_shown() -> None:
    """Its rules by estimated speed-up, hot instructions with source, notes; an OK message is no finding."""
    one = kernel("k", 1e-3, dram_sol_pct=90.0)
    rules = (
        StoredRule("CPIStall", "s", "Long Scoreboard Stalls", "optimization", 32.9, "global"),
        StoredRule("Occ", "s", "Low Utilization", "optimization", 84.2, "local"),
        StoredRule("SOL", "s", "Balanced", "ok"),
    )
    spot = HotSpot(0x4E0, "LDG.E R2, [R4]", 8, 0, 75, "gemm.cu:31", "samples")
    rest = HotSpot(0x4F0, "FFMA", 8, 0, 25, "", "samples")
    profile = replace(one.profile, rules=rules, hot_spots=(spot, rest), notes=("cut at line 3",))
    text = render([JudgedKernel(profile, one.verdict)])
    first, second = (
        text.index(f"Profiler: {words}") for words in ("Low Utilization, estimated speed-up 84.2 %", "Long")
    )
    assert first < second
    assert "Balanced" not in text
    assert "75   75 %" in text
    assert "gemm.cu:31" in text
    assert "Note: r.ncu-rep: cut at line 3" in text
