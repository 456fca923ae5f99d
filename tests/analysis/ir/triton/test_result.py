"""Results: bounds, sums, quotients and their JSON form."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kopt_kb.analysis.ir.triton import Amount, count_ir
from kopt_kb.analysis.ir.triton.result import DirectionBytes, Flops, KernelCount, Ratio, ratio, total


def test_sums_are_as_exact_as_their_parts():
    """An upper and a lower bound together bound nothing."""
    exact, upper, lower = Amount(3, "exact"), Amount(4, "upper"), Amount(5, "lower")
    assert total([exact, exact]) == Amount(6, "exact")
    assert total([exact, upper]) == Amount(7, "upper")
    assert total([exact, lower]) == Amount(8, "lower")
    assert total([upper, lower]) == Amount(None, "unknown")
    assert total([]) == Amount(0, "exact")


@pytest.mark.parametrize(
    ("above", "below", "value", "exactness"),
    [
        (Amount(6, "exact"), Amount(2, "exact"), 3.0, "exact"),
        (Amount(6, "exact"), Amount(2, "upper"), 3.0, "lower"),
        (Amount(6, "upper"), Amount(2, "lower"), 3.0, "upper"),
        (Amount(6, "upper"), Amount(2, "upper"), None, "unknown"),
        (Amount(6, "exact"), Amount(0, "exact"), None, "unknown"),
        (Amount(None, "unknown"), Amount(2, "exact"), None, "unknown"),
    ],
)
def test_quotients_turn_the_divisors_bound_around(above, below, value, exactness):
    """More bytes than counted would mean less intensity."""
    assert ratio(above, below) == Ratio(value, exactness)


def test_the_document_has_the_contracts_fields(ir_text):
    """kernels[].name, flops, bytes, intensity, exactness; plain JSON."""
    found = count_ir(ir_text("vadd"), 4, {"n": 4000}, mode="exact", file="vadd.ttir")
    document = json.loads(json.dumps(found.to_json()))
    (kernel,) = document["kernels"]
    assert {"name", "flops", "bytes", "intensity", "exactness"} <= kernel.keys()
    assert kernel["flops"]["useful"] == [{"dtype": "fp32", "engine": "vector", "value": 4000, "exactness": "exact"}]
    assert kernel["bytes"]["read"]["requested"] == {"value": 32000, "exactness": "exact"}
    assert kernel["intensity"]["useful_flops_per_compulsory_byte"] == {"value": 4000 / 48000, "exactness": "exact"}


def test_each_byte_is_requested_once(ir_text):
    """4000 elements are read twice and written once."""
    kernel = count_ir(ir_text("vadd"), 4, {"n": 4000}, mode="exact").kernels[0]
    assert kernel.compulsory_bytes == kernel.requested_bytes == Amount(48000, "exact")


def test_a_kernel_is_as_exact_as_its_least_exact_count() -> None:
    """Useful operations that are an upper bound leave no kernel exact, though all else is."""
    exact, nothing = Amount(8, "exact"), DirectionBytes(*[Amount(0, "exact")] * 4)
    executed = (Flops("fp32", "vector", exact),)
    made = KernelCount("k", "exact", (1, 1, 1), executed, executed, (), nothing, nothing, ())
    assert made.exactness == "exact"
    bounded = replace(made, useful=(Flops("fp32", "vector", Amount(8, "upper")),))
    assert bounded.exactness == "upper"
