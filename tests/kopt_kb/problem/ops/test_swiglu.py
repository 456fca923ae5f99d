"""The closed form of SwiGLU, by hand."""

from __future__ import annotations

from kopt_kb.problem.work import work


def test_three_operations_and_one_exponential_an_element():
    """2x3 elements, two inputs, one output in fp16."""
    found = work("swiglu", (2, 3), "fp16")
    assert found.flops_of("fp32", "vector").value == 18
    assert found.special_functions() == {"exp": 6}
    assert found.compulsory_bytes("dram", "read") == 24
    assert found.compulsory_bytes("dram", "write") == 12
