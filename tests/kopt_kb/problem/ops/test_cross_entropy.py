"""The closed form of cross entropy, by hand."""

from __future__ import annotations

from kopt_kb.problem.work import work


def test_losses_of_each_row():
    """4 rows of 10: 9 maxima, 10 subtractions, 9 additions, 2 more; one logarithm a row."""
    found = work("cross_entropy", (4, 10), "bf16", reduction="none")
    assert found.flops_of("fp32", "vector").value == 4 * 30
    assert found.special_functions() == {"exp": 40, "log": 4}
    assert found.compulsory_bytes("dram", "read") == 4 * 10 * 2 + 4 * 8
    assert found.compulsory_bytes("dram", "write") == 4 * 2


def test_the_mean_adds_three_additions_and_a_multiplication():
    """And writes a single loss."""
    found = work("cross_entropy", (4, 10), "bf16")
    assert found.flops_of("fp32", "vector").value == 4 * 30 + 4
    assert found.compulsory_bytes("dram", "write") == 2
