"""The closed form of softmax, by hand."""

from __future__ import annotations

from kopt_kb.problem.work import work


def test_a_row_of_five():
    """4 maxima, 5 subtractions, 4 additions, 5 divisions; 5 exponentials apart."""
    found = work("softmax", (3, 5), "bf16")
    assert found.flops_of("fp32", "vector").value == 3 * 18
    assert found.special_functions() == {"exp": 15}


def test_a_row_of_one_still_subtracts_and_divides():
    """4N-2 is 2."""
    assert work("softmax", (1, 1), "fp32").flops_of("fp32", "vector").value == 2


def test_bytes_are_in_and_out():
    """512x3000 in bf16: 3,072,000 bytes each way."""
    found = work("softmax", (512, 3000), "bf16")
    assert found.compulsory_bytes("dram", "read") == found.compulsory_bytes("dram", "write") == 3_072_000
