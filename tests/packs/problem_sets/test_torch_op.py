"""What one torch operation computes, said in the project's types."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.torch_op import each, first, storage_name, vector, vector_type  # noqa: E402

pytestmark = pytest.mark.torch


def test_types():
    """bf16 computes in fp32, double in its own, integers as int32."""
    kinds = [torch.bfloat16, torch.float64, torch.int64]
    assert [vector_type(torch.empty(1, dtype=kind)) for kind in kinds] == ["fp32", "fp64", "int32"]
    assert [storage_name(kind) for kind in (*kinds, torch.int8)] == ["bf16", "fp64", "int32", "int8"]


def test_counts():
    """Two an element of the first result and one exp; no entry for nothing; a number that was read counts nothing."""
    x = torch.empty(3, 2, device="meta")
    found = each(2, exp=1)((), (x, None))
    assert (found.flops, found.special) == ((("fp32", "vector", 12),), (("exp", "fp32", 6),))
    assert vector(x, 0).flops == ()
    assert each(1)((), 3.5).flops == ()
    assert first([x]) is x
