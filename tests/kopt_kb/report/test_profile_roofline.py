"""Points of a report's kernels and the roofs over them, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.analysis.profile import DurationStats, KernelProfile, ReportPlace, ReportSource
from kopt_kb.base.errors import BadInput
from kopt_kb.report.drawing import drawn
from kopt_kb.report.profile_roofline import half_moves, level_points, level_roofs, picture_of_report, run_roofs
from kopt_kb.wiki.registry import Registry

SOURCE = ReportSource("r", "ncu-rep", "ncu", "nvidia")


def kernel(**metrics: float) -> KernelProfile:
    """Two launches of 1 ms each."""
    named = {name.replace("__", "."): value for name, value in metrics.items()}
    stats = DurationStats(2, 2e-3, 1e-3, 1e-3, 1e-3)
    return KernelProfile("k", "k(int)", SOURCE, ReportPlace("r", "row 1"), 2, named, stats)


def test_operations_over_bytes_of_each_level() -> None:
    """8e9 operations in 1 ms are 8 TFLOP/s; over 1e9 and 4e9 bytes they are 8 and 2 FLOP/B."""
    profile = kernel(flops__matrix__bf16=7e9, flops__vector__fp32=1e9, dram_bytes=1e9, l2_bytes=4e9)
    found = level_points([profile])
    assert [(one.level, one.intensity, one.rate_si) for one in found] == [("dram", 8, 8e12), ("l2", 2, 8e12)]
    assert {(one.dtype, one.engine) for one in found} == {("bf16", "matrix")}


def test_upper_bounds_of_bytes_are_lower_bounds_of_intensity() -> None:
    """And kernels without operations, bytes or a time have no point."""
    profile = replace(kernel(flops__vector__fp32=1e9, shared_bytes=1e9), bounds={"shared_bytes": "upper"})
    assert [one.bound for one in level_points([profile])] == ["lower"]
    bare = [kernel(dram_bytes=1e9), kernel(flops__vector__fp32=1e9), replace(profile, durations=None)]
    assert level_points(bare) == []


def test_moves_of_registers_are_no_work() -> None:
    """Half FMAs alone are left out of a kernel's operations; a kernel of nothing else has no point."""
    mixed = kernel(flops__vector__fp16=7e9, flops__vector__fp32=1e9, dram_bytes=1e9)
    moving = replace(mixed, bounds={"flops.vector.fp16": "upper"})
    assert [(one.dtype, one.intensity) for one in level_points([mixed])] == [("fp16", 8)]
    assert [(one.dtype, one.intensity) for one in level_points([moving])] == [("fp32", 1)]
    assert (half_moves(mixed), half_moves(moving)) == (0, 7e9)
    alone = kernel(flops__vector__fp16=7e9, dram_bytes=1e9)
    assert level_points([replace(alone, bounds={"flops.vector.fp16": "upper"})]) == []


def test_roofs_are_of_the_level_and_the_type() -> None:
    """DRAM and shared memory of the wiki; a type that a part lacks has none; the profiler's own are apart."""
    profile = kernel(
        flops__vector__fp32=1e9,
        dram_bytes=1e9,
        l2_bytes=2e9,
        run_peak__vector__fp32=5e13,
        run_peak__l2_bytes_per_s=5e12,
    )
    points = level_points([profile])
    found = level_roofs(Registry.open().platform("H200_SXM"), points)
    assert {"dram", "shared"} <= {level for level, _ in found}
    assert {kind for _, kind in found} == {"fp32 vector"}
    assert found["dram", "fp32 vector"].bandwidth == 4.8e12
    run = run_roofs(points)
    assert [(key, roof.bandwidth, roof.peak) for key, roof in run.items()] == [(("l2", "fp32 vector"), 5e12, 5e13)]


def test_nothing_to_draw_is_an_error() -> None:
    """No point, or no roof."""
    with pytest.raises(BadInput, match="operations and bytes"):
        picture_of_report("t", [], [])
    with pytest.raises(BadInput, match="no roof is known"):
        picture_of_report("t", level_points([kernel(flops__vector__fp32=1e9, dram_bytes=1e9)]), [])


def test_kernels_whose_long_names_begin_alike_are_told_apart() -> None:
    """A label is cut in its middle, and what stands over it is whole."""
    profile = kernel(
        flops__vector__fp32=1e9, dram_bytes=1e9, run_peak__vector__fp32=5e13, run_peak__dram_bytes_per_s=5e12
    )
    twins = [replace(profile, name=f"{'k' * 60}{at}", demangled="") for at in "ab"]
    points = level_points(twins)
    picture = picture_of_report("t", points, run_roofs(points).values())
    assert [one.name for one in picture.points] == [f"dram {'k' * 60}a", f"dram {'k' * 60}b"]
    made = drawn(picture)
    assert {one.text[-1] for one in made.labels if one.text.startswith("kkk")} == {"a", "b"}
    assert all(any(f"{'k' * 60}{at}" in one.over for one in made.labels) for at in "ab")
