"""The closed form of RMS normalisation, by hand and by simulation."""

from __future__ import annotations

import pytest

from kopt_kb.problem.work import work


def _simulated(cols: int, weight: bool) -> int:
    """Count the operations of one row as a program would run them."""
    flops, total = 0, None
    for _ in range(cols):
        flops += 1
        flops += total is not None
        total = 1
    flops += 2
    return flops + cols * (1 + weight)


@pytest.mark.parametrize("weight", [True, False])
@pytest.mark.parametrize("cols", [1, 2, 7, 4096])
def test_flops_are_those_of_running_a_row(cols, weight):
    """Squares, sum, mean, eps, scaling, weight."""
    found = work("rms_norm", (3, cols), "bf16", weight=weight)
    assert found.flops_of("fp32", "vector").value == 3 * _simulated(cols, weight)


def test_without_weight_nothing_is_read_for_it():
    """2x3 in bf16: 12 bytes in, 12 out, and 6 more with a weight."""
    assert work("rms_norm", (2, 3), "bf16", weight=False).compulsory_bytes() == 24
    assert work("rms_norm", (2, 3), "bf16").compulsory_bytes() == 30


def test_double_precision_computes_in_double():
    """And needs that ceiling."""
    assert list(work("rms_norm", (2, 3), "fp64").flops_by_engine()) == [("fp64", "vector")]
