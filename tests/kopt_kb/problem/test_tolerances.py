"""Every storage type has limits with a reason, and narrower types have wider limits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.problem.dtypes import DTYPES
from kopt_kb.problem.tolerances import TOLERANCES, Tolerance, tolerance_of


def test_every_type_has_limits_and_a_reason():
    """No type is checked by chance."""
    assert set(TOLERANCES) == set(DTYPES)
    assert all(one.reason for one in TOLERANCES.values())


@pytest.mark.parametrize("name", DTYPES)
def test_an_element_may_be_further_off_than_the_whole(name):
    """The limit of one element is no tighter than that of the norm."""
    one = tolerance_of(name)
    assert one.max_abs_err_rel >= one.rel_l2_err


def test_the_ratio_in_decibels_is_the_same_limit():
    """1e-2 is 40 dB, 2e-3 is 54 dB: for people, and no gate of its own."""
    assert [tolerance_of(one).snr_db for one in ("bf16", "fp16", "fp64", "int8", "fp8")] == [40, 54, 240, 240, 26]


def test_documents_of_earlier_releases_are_read():
    """They call the norm a maximum, and say it again in decibels."""
    old = {"max_rel_err": "1/100", "min_snr_db": "40", "max_abs_err_rel": "1/20", "reason": tolerance_of("bf16").reason}
    assert read(Tolerance, old) == tolerance_of("bf16")
    assert set(tolerance_of("bf16").to_json()) == {"rel_l2_err", "max_abs_err_rel", "reason"}
    with pytest.raises(BadInput):
        read(Tolerance, {**old, "rel_l2_err": "1/100", "other": 1})


def test_fewer_bits_allow_larger_errors():
    """fp64, fp32, tf32, fp16, bf16, fp8, fp4."""
    found = [tolerance_of(one).rel_l2_err for one in ("fp64", "fp32", "tf32", "bf16", "fp8", "fp4")]
    assert found == sorted(found)


def test_a_tolerance_of_everything_is_refused():
    """100 % would pass a kernel that writes zeros."""
    with pytest.raises(BadInput):
        Tolerance(Fraction(1), Fraction(1), "anything goes")


def test_limits_read_back_exactly():
    """As fractions, not floats."""
    one = tolerance_of("fp16")
    assert read(Tolerance, one.to_json()) == one
