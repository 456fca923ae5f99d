"""What a count may evaluate."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import IrError, count_ir
from kopt_kb.analysis.ir.triton.budget import CountBudget, CountLimits


def test_lanes_are_taken_from_what_is_left() -> None:
    """The last lane may be evaluated, one more not."""
    budget = CountBudget(CountLimits(10), "a.ttir")
    budget.spend(10)
    budget.watch()
    with pytest.raises(IrError, match="more memory lanes") as caught:
        budget.spend(1)
    assert (caught.value.error_code, caught.value.where) == ("KB043", "a.ttir")


@pytest.mark.parametrize("mode", ["exact", "shape"])
def test_a_count_ends_behind_its_seconds(ir_text, mode) -> None:
    """In either mode; without a limit it ends when it is done."""
    args = {"n": 4096}
    with pytest.raises(IrError, match="not ended after 0 s") as caught:
        count_ir(ir_text("vadd"), 4, args, mode=mode, limits=CountLimits(seconds=0.0))
    assert caught.value.error_code == "KB043"
    assert count_ir(ir_text("vadd"), 4, args, mode=mode, limits=CountLimits(seconds=1e6)).kernels
