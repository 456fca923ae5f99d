"""Every storage type has limits with a reason, and narrower types have wider limits."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.problem.dtypes import DTYPES
from kopt_kb.problem.tolerances import TOLERANCES, Tolerance, tolerance_of
from kopt_kb.wire import read


def test_every_type_has_limits_and_a_reason():
    """No type is checked by chance."""
    assert set(TOLERANCES) == set(DTYPES)
    assert all(one.reason for one in TOLERANCES.values())


@pytest.mark.parametrize("name", DTYPES)
def test_the_two_global_limits_agree(name):
    """The ratio in decibels is −20·log10 of the relative error, within a decibel."""
    one = tolerance_of(name)
    assert float(one.min_snr_db) == pytest.approx(-20 * math.log10(one.max_rel_err), abs=1)
    assert one.max_abs_err_rel >= one.max_rel_err


def test_fewer_bits_allow_larger_errors():
    """fp64, fp32, tf32, fp16, bf16, fp8, fp4."""
    found = [tolerance_of(one).max_rel_err for one in ("fp64", "fp32", "tf32", "bf16", "fp8", "fp4")]
    assert found == sorted(found)


def test_a_tolerance_of_everything_is_refused():
    """100 % would pass a kernel that writes zeros."""
    with pytest.raises(BadInput):
        Tolerance(Fraction(1), Fraction(0), Fraction(1), "anything goes")


def test_limits_read_back_exactly():
    """As fractions, not floats."""
    one = tolerance_of("fp16")
    assert read(Tolerance, one.to_json()) == one
