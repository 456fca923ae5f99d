"""What machine code can do bounds a time more tightly than what its check could accept."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kopt_kb.analysis.roofline.executed import executed_floor
from kopt_kb.analysis.roofline.floor import compute_floor
from kopt_kb.problem.work import work
from kopt_kb.wiki.registry import Registry

H100 = Registry.open().platform("H100_SXM")
PRODUCT = work("gemm", (4096,) * 3, "fp32")
OPERATIONS = 2 * 4096**3 * Fraction(49, 64)


@pytest.mark.core
def test_the_types_that_ran_and_the_lanes_bound_the_rate() -> None:
    """By hand: 132 SMs of 2048 operations of tf32 at 1980 MHz, and of 128 lanes four products each."""
    found = executed_floor(PRODUCT, H100, ("tf32",))
    assert found.seconds is not None and found.engine == "tf32 matrix instructions"
    assert float(OPERATIONS / found.seconds) == pytest.approx(132 * (2048 + 4 * 2 * 128) * 1.98e9)
    lanes = executed_floor(PRODUCT, H100, ())
    assert lanes.seconds is not None and lanes.engine == "no matrix instructions"
    assert float(OPERATIONS / lanes.seconds / 10**12) == pytest.approx(4 * 66.90816)


def test_it_is_tighter_than_the_floor_of_every_route() -> None:
    """At KernelBench's tolerance one product of int8 is accepted; code without int8 takes longer."""
    from dataclasses import replace

    from kopt_kb.problem.tolerances import tolerance_of

    any_route = compute_floor(PRODUCT, H100, replace(tolerance_of("fp32"), rel_l2_err=Fraction(1, 100)))
    by_code = executed_floor(PRODUCT, H100, ("tf32",))
    assert any_route.seconds is not None and by_code.seconds is not None
    assert by_code.seconds > any_route.seconds


def test_unknown_rates_and_other_work_have_none() -> None:
    """Nobody says how fast a GB10 multiplies tf32, nor that a normalisation is a product."""
    assert executed_floor(PRODUCT, Registry.open().platform("GB10"), ("tf32",)).seconds is None
    assert executed_floor(work("rms_norm", "64x64", "bf16"), H100, ("bf16",)).seconds is None
