"""Peaks are units x rate x clock; 2 % is allowed and not more."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge

BASE = (
    "sm_count 100 count",
    "sm_clock 1000 MHz class=boost;ops=all",
    "ops_per_clock_per_sm 1024 op/clk dtype=fp16;engine=matrix;sparsity=dense;acc=fp32",
    "lanes_per_sm 128 count dtype=fp32",
)
FP16 = "dtype=fp16;engine=matrix;sparsity=dense;acc=fp32"


def outcomes(sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("102.4", "pass"),
        ("104.3", "pass"),
        ("100.5", "pass"),
        ("104.6", "fail"),
        ("100.2", "fail"),
        ("204.8", "fail"),
        ("51.2", "fail"),
    ],
)
def test_rate_and_its_border(sheet_of, value: str, outcome: str) -> None:
    """100 x 1024 x 1 GHz = 102.4 TFLOPS: 1.9 % off passes, 2.1 % fails, factors of two fail."""
    assert outcomes(sheet_of(*BASE, f"peak_compute {value} TFLOPS {FP16};clock=boost"), "PHY-RATE") == [outcome]


def test_rate_is_excepted_with_a_reason(sheet_of) -> None:
    """A declared exception turns fail into excepted."""
    assert outcomes(sheet_of(*BASE, f"peak_compute 25.6 TFLOPS {FP16};clock=boost ! PHY-RATE"), "PHY-RATE") == [
        "excepted"
    ]


def test_rate_is_not_checkable_without_inputs(sheet_of) -> None:
    """No rate, no clock of that class, no SM count: each is not-checkable, never a pass."""
    peak = f"peak_compute 102.4 TFLOPS {FP16};clock=boost"
    for left_out in range(3):
        rows = [row for at, row in enumerate(BASE) if at != left_out]
        assert outcomes(sheet_of(*rows, peak), "PHY-RATE") == ["not-checkable"]


def test_unstated_clocks_may_be_any_known_one(sheet_of) -> None:
    """1.5 GHz maximum: 153.6 fits it, 102.4 fits boost, 128 fits none."""
    rows = (*BASE, "sm_clock 1500 MHz class=max;ops=all")
    for value, outcome in (("153.6", "pass"), ("102.4", "pass"), ("128", "fail")):
        assert outcomes(sheet_of(*rows, f"peak_compute {value} TFLOPS {FP16};clock=unstated"), "PHY-RATE") == [outcome]


def test_clocks_belong_to_an_engine(sheet_of) -> None:
    """A matrix boost clock does not explain a vector peak."""
    rows = (*BASE[:1], "sm_clock 1000 MHz class=boost;ops=matrix", BASE[3])
    vector = "peak_compute 25.6 TFLOPS dtype=fp32;engine=vector;sparsity=dense;acc=fp32;clock=boost"
    assert outcomes(sheet_of(*rows, vector), "PHY-LANES") == ["not-checkable"]


@pytest.mark.parametrize(
    ("value", "outcome"), [("25.6", "pass"), ("26.0", "pass"), ("26.2", "fail"), ("51.2", "fail"), ("28.5", "fail")]
)
def test_lanes(sheet_of, value: str, outcome: str) -> None:
    """100 x 128 x 2 x 1 GHz = 25.6 TFLOPS; a peak 11 % above needs a clock the part lacks."""
    peak = f"peak_compute {value} TFLOPS dtype=fp32;engine=vector;sparsity=dense;acc=fp32;clock=boost"
    assert outcomes(sheet_of(*BASE, peak), "PHY-LANES") == [outcome]


@pytest.mark.parametrize(("value", "outcome"), [("102.4", "pass"), ("90", "pass"), ("102.5", "fail"), ("150", "fail")])
def test_nothing_measured_is_above_its_peak(sheet_of, value: str, outcome: str) -> None:
    """Measured above peak means the peak is wrong."""
    rows = (*BASE, f"peak_compute 102.4 TFLOPS {FP16};clock=boost")
    measured = f"measured_compute {value} TFLOPS dtype=fp16;engine=matrix;acc=fp32;shape=1x1x1;data=random"
    limit = f"acceptance_compute {value} TFLOPS dtype=fp16;data=random"
    assert outcomes(sheet_of(*rows, measured, limit), "PHY-MEASURED") == [outcome, outcome]


def test_measurements_without_peak_are_not_checkable(sheet_of) -> None:
    """An unknown peak can't be exceeded, and can't be met."""
    measured = "measured_compute 90 TFLOPS dtype=bf16;engine=matrix;acc=fp32;shape=1x1x1;data=random"
    assert outcomes(sheet_of(*BASE, measured), "PHY-MEASURED") == ["not-checkable"]


@pytest.mark.parametrize(
    ("value", "outcome"), [("26.086", "pass"), ("26.138", "fail"), ("25.114", "pass"), ("25.062", "fail")]
)
def test_the_border_of_lanes(sheet_of, value: str, outcome: str) -> None:
    """25.6 TFLOPS at 1.9 % passes, at 2.1 % fails, both ways."""
    peak = f"peak_compute {value} TFLOPS dtype=fp32;engine=vector;sparsity=dense;acc=fp32;clock=boost"
    assert outcomes(sheet_of(*BASE, peak), "PHY-LANES") == [outcome]


@pytest.mark.parametrize(("value", "outcome"), [("102.4", "pass"), ("102.5", "fail")])
def test_a_measurement_may_equal_its_peak(sheet_of, value: str, outcome: str) -> None:
    """And not be above it by any share."""
    measured = f"measured_compute {value} TFLOPS dtype=fp16;engine=matrix;acc=fp32;shape=8x8x8;data=random"
    peak = f"peak_compute 102.4 TFLOPS {FP16};clock=boost"
    assert outcomes(sheet_of(peak, measured), "PHY-MEASURED") == [outcome]


RATE = "{}:ops_per_clock_per_sm {} op/clk dtype=fp16;engine=matrix;sparsity=dense;acc={}"
PART = ("sm_count 100 count", "sm_clock 1 GHz class=max;ops=all")


@pytest.mark.parametrize(
    ("rule", "rows", "expected"),
    [
        ("PHY-CEILING", (RATE.format("targets/t.md", 1024, "unstated"), RATE.format("p.md", 1024, "fp32")), ["pass"]),
        ("PHY-CEILING", (RATE.format("targets/t.md", 1024, "unstated"), RATE.format("p.md", 512, "fp32")), ["fail"]),
        (
            "PHY-CEILING",
            (RATE.format("targets/t.md", 1024, "unstated"), RATE.format("p.md", 512, "fp32") + " ! PHY-CEILING"),
            ["excepted"],
        ),
        ("PHY-CEILING", (RATE.format("p.md", 512, "fp32"),), []),
        ("PHY-CEILING", (RATE.format("targets/t.md", 1024, "unstated"), RATE.format("targets/t.md", 512, "fp32")), []),
        (
            "PHY-RATE",
            (*PART, RATE.format("targets/t.md", 1024, "unstated"), RATE.format("p.md", 512, "fp32"),
             "peak_compute 51.2 TFLOPS dtype=fp16;engine=matrix;sparsity=dense;acc=unstated;clock=max"),
            ["pass"],
        ),
        (
            "PHY-RATE",
            (*PART, RATE.format("targets/t.md", 1024, "unstated"), RATE.format("p.md", 512, "fp32"),
             "peak_compute 102.4 TFLOPS dtype=fp16;engine=matrix;sparsity=dense;acc=unstated;clock=max"),
            ["fail"],
        ),
        (
            "PHY-RATE",
            (*PART, RATE.format("targets/t.md", 1024, "unstated"),
             "peak_compute 204.8 TFLOPS dtype=fp16;engine=matrix;sparsity=2:4;acc=unstated;clock=max"),
            ["pass"],
        ),
        (
            "PHY-RATE",
            (*PART, "lanes_per_sm 128 count dtype=fp32",
             "peak_compute 25.6 TFLOPS dtype=fp32;engine=vector;sparsity=dense;acc=unstated;clock=max"),
            [],
        ),
        ("PHY-TINY", ("memory_bandwidth 2 TB/s", "measured_bandwidth 1200 GB/s level=dram;pattern=read;bytes=1GB"), ["pass"]),
        ("PHY-TINY", ("memory_bandwidth 2 TB/s", "measured_bandwidth 1199 GB/s level=dram;pattern=read;bytes=1GB"), ["fail"]),
        ("PHY-TINY", ("memory_bandwidth 2 TB/s", "measured_bandwidth 1.7 GB/s level=dram;pattern=read;bytes=1GB"), ["fail"]),
        ("PHY-TINY", ("memory_bandwidth 2 TB/s", "measured_bandwidth 1 GB/s level=l2;pattern=read;bytes=1GB"), []),
        (
            "PHY-TINY",
            ("peak_compute 100 TFLOPS dtype=fp16;engine=matrix;sparsity=dense;acc=fp32;clock=max",
             "acceptance_compute 0.9 TFLOPS dtype=fp16;data=random"),
            ["fail"],
        ),
    ],
)  # fmt: skip
def test_ceilings_and_floors(sheet_of, rule: str, rows: tuple[str, ...], expected: list[str]) -> None:
    """A cut product says so, its own rate decides, and nothing measured is tiny."""
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == rule] == expected


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ("measured_bandwidth 600 GB/s level=dram;pattern=read;bytes=unstated", "pass"),
        ("measured_bandwidth 599 GB/s level=dram;pattern=read;bytes=unstated", "fail"),
        ("measured/p.md:measured_bandwidth 200 GB/s level=dram;pattern=read;bytes=8MiB", "pass"),
        ("measured/p.md:measured_bandwidth 199 GB/s level=dram;pattern=read;bytes=8MiB", "fail"),
    ],
)
def test_what_is_published_is_no_small_part(sheet_of, row: str, outcome: str) -> None:
    """0.6 of the memory's bandwidth for a published figure, a fifth on a curve over sizes."""
    assert outcomes(sheet_of("memory_bandwidth 1000 GB/s", row), "PHY-TINY") == [outcome]


GEMM = "measured_compute {} TFLOPS dtype=fp16;engine=matrix;acc=fp32;shape={};data=random @ {}"
LIMIT = "acceptance_compute {} TFLOPS dtype={};data=random"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((GEMM.format("100", "4096x4096x4096", "a"), GEMM.format("125", "8192x8192x8192", "a")), ["pass", "pass"]),
        ((GEMM.format("100", "4096x4096x4096", "a"), GEMM.format("126", "8192x8192x8192", "a")), ["fail", "pass"]),
        ((GEMM.format("100", "4096x4096x4096", "a"), GEMM.format("300", "8192x8192x8192", "b")), []),
        ((LIMIT.format("100", "fp16"), LIMIT.format("130", "bf16")), ["pass"]),
        ((LIMIT.format("100", "fp16"), LIMIT.format("131", "bf16")), ["fail"]),
        ((LIMIT.format("100", "fp16"), LIMIT.format("200", "fp8")), ["pass"]),
        ((LIMIT.format("100", "fp16"), LIMIT.format("100", "fp8")), ["fail"]),
        ((LIMIT.format("100", "fp8"), LIMIT.format("1000", "int8")), ["fail"]),
        ((LIMIT.format("100", "int8"),), []),
    ],
)
def test_measurements_and_limits_are_alike(sheet_of, rows: tuple[str, ...], expected: list[str]) -> None:
    """One author's large products are within 1.25 of each other, pass limits follow the types within 1.3."""
    assert sorted(outcomes(sheet_of(*rows), "PHY-ALIKE")) == expected
