"""The peak of a type by the name that a driver prints."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.roofline.peak import peak
from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.quantity import UnknownData


def test_one_call_gives_value_and_citation() -> None:
    """Dense, by the driver's name."""
    found = peak("NVIDIA H100 80GB HBM3", "bf16")
    assert str(found) == "989.4 TFLOPS"
    (cited,) = found.citations()
    assert cited.location.path == "hardware/nvidia/h100_sxm.md" and "sparsity=dense" in cited.key


def test_the_engine_is_the_faster_one_or_the_one_asked_for() -> None:
    """fp32 of an H100 has no matrix engine, fp16 has both."""
    assert "engine=vector" in peak("H100_SXM", "fp32").citations()[0].key
    assert peak("H100_SXM", "fp16") > peak("H100_SXM", "fp16", "vector")


def test_what_nobody_publishes_is_no_number() -> None:
    """Nor does the vector rate stand for an unknown matrix rate."""
    with pytest.raises(UnknownData, match="MI308X"):
        peak("MI308X", "bf16")
    with pytest.raises(UnknownData, match="engine=matrix"):
        peak("H20", "fp64")


@pytest.mark.parametrize(
    ("product", "dtype", "engine", "said"),
    [
        ("H100", "bf16", None, "not one product"), ("H20", "bf17", None, "unknown dtype"),
        ("H20", "bf16", "tensor", "engine"), ("H20", "fp4", None, "NONE"),
    ],
)  # fmt: skip
def test_bad_requests(product: str, dtype: str, engine: None, said: str) -> None:
    """Each says what is wrong."""
    with pytest.raises(BadInput, match=said):
        peak(product, dtype, engine)
