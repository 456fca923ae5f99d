"""The closed form of elementwise operations, by hand."""

from __future__ import annotations

from kopt_kb.problem.work import work


def test_an_addition_of_a_million_and_three():
    """12,000,036 bytes in fp32, one FLOP an element."""
    found = work("elementwise", (1_000_003,), "fp32")
    assert found.flops_of("fp32", "vector").value == 1_000_003
    assert found.compulsory_bytes("dram", "read") == 8_000_024
    assert found.compulsory_bytes("dram", "write") == 4_000_012


def test_inputs_outputs_and_arithmetic_are_as_given():
    """Three inputs, two outputs, four FLOPs and one special function an element."""
    options = {"inputs": 3, "outputs": 2, "flops_per_element": 4, "special_per_element": 1}
    found = work("elementwise", (5, 2), "bf16", **options)
    assert found.flops_of("fp32", "vector").value == 40
    assert found.special_functions() == {"any": 10}
    assert found.compulsory_bytes() == 5 * 20


def test_a_copy_has_no_flops():
    """Zero FLOPs is a count, not an unknown."""
    assert work("elementwise", (5,), "int8", inputs=1, flops_per_element=0).flops_of("int32", "vector").value == 0
