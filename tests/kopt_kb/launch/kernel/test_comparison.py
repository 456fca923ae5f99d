"""Distances by norm, block and element: one wrong part of a large result shows, and rounding does not."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.kernel.comparison import compare, magnitude_of  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402

pytestmark = pytest.mark.torch


def _failure(out: Any, reference: Any, dtype: str = "bf16", magnitude: Any = None) -> str:
    return compare(out, reference, magnitude).failure(tolerance_of(dtype))


def test_errors_are_norms_worked_by_hand() -> None:
    """(3, 4) against (3, 4.05): 0.05 / 5 = 1 %."""
    errors = compare(torch.tensor([3.0, 4.05], dtype=torch.float64), torch.tensor([3.0, 4.0], dtype=torch.float64))
    assert errors.rel_l2_err == pytest.approx(0.01)


def test_one_wrong_element_fails_although_the_norm_is_small() -> None:
    """A single element that is off by a fifth of its row's largest one is found by its block and by itself."""
    reference = torch.ones(1000, 1000, dtype=torch.float64)
    out = reference.clone().to(torch.float32)
    out[3, 700] = 1.2
    errors = compare(out, reference)
    assert errors.rel_l2_err == pytest.approx(2e-4, rel=1e-3)
    assert errors.block_at == (3, 640)
    assert errors.element_at == (3, 700)
    assert "the part at [3, 640]" in errors.failure(tolerance_of("tf32"))
    alone = replace(tolerance_of("tf32"), rel_l2_err=Fraction("5e-2"))
    assert "element at [3, 700] is 0.2" in errors.failure(alone)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
def test_one_wrong_row_of_many_fails(dtype: str) -> None:
    """One of 100,000 rows is that of its neighbour: 0.4 % in norm, all of its own."""
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
    reference = torch.randn(100_000, 16, dtype=torch.float64)
    out = reference.to(kind)
    assert _failure(out, reference, dtype) == ""
    out[77_777] = out[77_776]
    assert compare(out, reference).rel_l2_err < 1e-2
    assert _failure(out, reference, dtype)


def test_small_rows_beside_large_ones_count() -> None:
    """A row a millionth of the others is wrong: the whole norm does not see it."""
    reference = torch.randn(64, 256, dtype=torch.float64)
    reference[5] *= 1e-5
    out = reference.to(torch.bfloat16)
    assert _failure(out, reference) == ""
    out[5] = 0
    assert "[5, " in _failure(out, reference)


def test_a_vector_of_results_is_judged_one_by_one_where_its_terms_are_known() -> None:
    """A sum that cancels may be off by roundings of its terms; one that does not may not."""
    reference, terms = torch.tensor([1e-3, 100.0], dtype=torch.float64), torch.tensor([1e4, 1e4], dtype=torch.float64)
    assert _failure(torch.tensor([1.2e-3, 100.0]), reference, "fp32", terms) == ""
    assert "[0]" in _failure(torch.tensor([1.2e-3, 100.0]), reference, "fp32", terms / 1e4)
    assert _failure(torch.tensor([1e-3, 101.0]), reference, "fp32", terms)


def test_infinite_and_nan_only_where_the_reference_is() -> None:
    """The same infinity, NaN for NaN, and infinite where the type can't hold the value; nothing else."""
    reference = torch.tensor([[1.0, math.inf, -math.inf, math.nan, 70000.0]], dtype=torch.float64)
    assert _failure(torch.tensor([[1.0, math.inf, -math.inf, math.nan, math.inf]]).half(), reference, "fp16") == ""
    for place, wrong in [(0, math.inf), (0, math.nan), (1, -math.inf), (1, 1.0), (2, math.nan), (3, 0.0)]:
        out = reference.half()
        out[0, place] = wrong
        assert "1 elements are NaN or infinite" in _failure(out, reference, "fp16"), (place, wrong)
    assert "NaN" in _failure(torch.tensor([[1.0, math.inf, -math.inf, math.nan, math.inf]]), reference, "fp32")


def test_a_limit_that_the_user_loosened_is_not_held_by_its_decibels() -> None:
    """An error of 2 % within 5 % passes: its ratio of 34 dB judges nothing."""
    reference = torch.full((50,), 1.0, dtype=torch.float64)
    errors = compare(reference * 1.02, reference)
    loose = replace(tolerance_of("bf16"), rel_l2_err=Fraction("5e-2"))
    assert errors.failure(loose) == ""
    assert "relative error" in errors.failure(tolerance_of("bf16"))


def test_a_zero_reference_allows_only_zero() -> None:
    """Any deviation from zero is infinite."""
    zero = torch.zeros(3, dtype=torch.float64)
    assert compare(zero.float(), zero).rel_l2_err == 0.0
    assert math.isinf(compare(zero.float() + 1, zero).rel_l2_err)
    assert compare(zero[:0], zero[:0]).failure(tolerance_of("fp32")) == ""


@pytest.mark.parametrize("reference", [torch.ones(3), torch.ones(4, dtype=torch.float64)])
def test_an_unfit_reference_is_refused(reference: Any) -> None:
    """It must be float64 and of the result's shape."""
    with pytest.raises(BadInput):
        compare(torch.ones(3), reference)


def test_the_size_of_terms_belongs_to_the_operation_as_packaged() -> None:
    """Tensors of another operation of that name, or in another order, have none."""
    a, b = torch.ones(3, 5), torch.ones(5, 2)
    assert tuple(magnitude_of("gemm", (a, b), (3, 2)).shape) == (3, 2)
    assert magnitude_of("gemm", (a,), (3, 2)) is None
    assert magnitude_of("gemm", (b, a), (3, 2)) is None
    assert magnitude_of("nothing", (a, b), (3, 2)) is None
    assert float(magnitude_of("reduction", (-a,), (3,))[0]) == 5
