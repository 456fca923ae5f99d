"""Rates that one document prints come of one clock."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge

OPS = tuple(
    f"ops_per_clock_per_sm {count} op/clk dtype={dtype};engine=matrix;sparsity=dense;acc=unstated"
    for dtype, count in (("fp16", 1024), ("fp8", 2048), ("tf32", 512), ("fp64", 128))
)


def peak(dtype: str, rate: str, document: str = "sheet", rule: str = "") -> str:
    """A dense matrix rate of a document."""
    axes = f"dtype={dtype};engine=matrix;sparsity=dense;acc=unstated;clock=boost"
    return f"peak_compute {rate} TFLOPS {axes}{rule} @ {document}"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((peak("fp16", "100.0"), peak("fp8", "200.0"), peak("tf32", "50.0")), ["pass"] * 3),
        ((peak("fp16", "100.0"), peak("fp8", "200.2"), peak("tf32", "50.0")), ["pass"] * 3),
        ((peak("fp16", "100.0"), peak("fp8", "200.4"), peak("tf32", "50.00")), ["pass", "fail", "pass"]),
        ((peak("fp16", "100"), peak("fp8", "204"), peak("tf32", "50.0")), ["pass"] * 3),
        ((peak("fp16", "100.0"), peak("fp8", "203.0")), ["fail", "fail"]),
        ((peak("fp16", "100.0"), peak("fp8", "203.0", "page")), []),
        ((peak("fp16", "100.0"), peak("fp64", "13.0")), []),
        ((peak("fp16", "100.0"), peak("fp8", "203.0", rule=" ! PHY-RATE")), []),
        ((peak("fp16", "100.0"), peak("int8", "203.0")), []),
    ],
)
def test_one_clock_a_document(sheet_of, rows: tuple[str, ...], expected: list[str]) -> None:
    """A unit of the last digit each is let pass; double precision and declared rates have a clock of their own."""
    found = judge(sheet_of(*OPS, *rows))
    assert [check.outcome for check in found if check.rule == "PHY-DOCUMENT"] == expected
