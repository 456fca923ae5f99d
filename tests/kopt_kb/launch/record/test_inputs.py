"""Edits of inputs: what each kind does, that it follows from the seed, and that layouts stay as they were."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.launch.record.inputs import Drawn, edited, edited_result, fits, trial_inputs  # noqa: E402
from kopt_kb.problem.trials import RANDOM, Edit, Trial  # noqa: E402

pytestmark = pytest.mark.torch


def _done(x: Any, *edits: Edit, more: tuple[Any, ...] = (), seed: int = 4) -> tuple[Any, ...]:
    trial = Trial("t", "w", edits)
    return trial_inputs((x, *more), trial, Drawn(trial, seed, "cpu"))


def _x(dtype: Any = torch.bfloat16) -> Any:
    return torch.randn(6, 40, generator=torch.Generator().manual_seed(1)).to(dtype)


def test_powers_are_exact_and_shared_by_key() -> None:
    """What A loses in a place of K, B gains: the product is the same to the last bit of exact arithmetic."""
    a, b = _x(torch.float16), _x(torch.float16).t()
    x, y = _done(a, Edit("powers", 0, -1, 4, key="K"), Edit("powers", 1, -2, 4, key="K", inverse=True), more=(b,))
    assert not torch.equal(x, a)
    assert torch.equal(x.double() @ y.double(), a.double() @ b.double())
    assert y.stride() == b.stride()


def test_shrink_never_makes_larger() -> None:
    """Values keep their range where nobody knows what else is allowed."""
    x = _x()
    (small,) = _done(x, Edit("shrink", 0, -2, 5))
    assert bool((small.abs() <= x.abs()).all())
    assert len(set((small.float() / x.float()).nanmedian(-1).values.tolist())) > 1


@pytest.mark.parametrize(
    ("edit", "holds"),
    [
        (Edit("shifts", 0, -2, 4.0), lambda y, x: ((y - x).std(-1) < 0.05).all() and (y - x).mean(-1).std() > 0.5),
        (Edit("place", 0, value=60.0), lambda y, x: ((y == 60).sum(-1) == 1).all() and ((y != x).sum(-1) == 1).all()),
        (Edit("equal"), lambda y, x: (y == y[:, :1]).all() and (x == y).any(-1).all()),
        (Edit("mask", value=0.5), lambda y, _: (y.isinf().sum(-1) > 5).all() and y.isfinite().any(-1).all()),
        (Edit("alternate"), lambda y, _: (y[:, ::2] >= 0).all() and (y[:, 1::2] <= 0).all()),
        (Edit("grid"), lambda y, _: (y * 8 == (y * 8).round()).all() and y.abs().max() <= 4),
        (Edit("zero"), lambda y, _: 5 < int((y == 0).all(0).sum()) < 35),
        (Edit("tiny", value=0.5), lambda y, _: 0 < y.abs().max() < 1e-30),
        (Edit("permute"), lambda y, x: (y.sort(-1).values == x.sort(-1).values).all() and not y.equal(x)),
        (Edit("reverse_tail", axis=-2), lambda y, x: y.sum(0).allclose(x.sum(0), atol=0.2)),
        (Edit("scale", value=-2.0), lambda y, x: y.equal(-2 * x)),
    ],
    ids=lambda one: one.kind if isinstance(one, Edit) else "",
)
def test_kinds(edit: Edit, holds: Any) -> None:
    """Each does what its description says, again from the same seed, and leaves what it was given alone."""
    x = _x()
    kept = x.clone()
    (y,) = _done(x, edit)
    assert holds(y.float(), x.float())
    assert y.dtype == x.dtype
    assert torch.equal(x, kept)
    assert torch.equal(_done(x, edit)[0], y)


def test_the_least_numbers_of_a_narrow_type_are_subnormal() -> None:
    """fp16 has them; where fp32 would flush, values stay above."""
    (half,) = _done(_x(torch.float16), Edit("tiny", value=0.5))
    assert float(half.abs().max()) < 6.2e-5 * 2
    (wide,) = _done(_x(torch.float32), Edit("tiny", value=0.5))
    assert float(wide.abs().median()) > 1.2e-38


def test_an_axis_that_is_not_there_stands_for_all_and_indices_stay() -> None:
    """A vector has no rows; an integer tensor is no value."""
    (one,) = _done(torch.ones(5), Edit("powers", 0, -2, 3))
    assert bool((one == one[0]).all())
    whole = torch.arange(5)
    assert _done(whole, Edit("scale", value=3.0))[0] is whole
    assert _done(torch.ones(()), Edit("place"), Edit("equal"), Edit("mask", value=0.5))[0].shape == ()
    assert _done(torch.ones(2), Edit("scale", 7, value=3.0))[0].tolist() == [1, 1]
    assert not fits((whole,), Trial("t", "w"))
    assert fits((whole,), RANDOM)


def test_renamed_classes_pick_the_same_logits() -> None:
    """The target's logit is where the order put it."""
    x, target = _x(torch.float32), torch.tensor([3, 0, 39, 7, 7, 1])
    y, renamed = _done(x, Edit("permute", 0, -1, key="V"), Edit("mapped", 1, key="V"), more=(target,))
    assert torch.equal(y.gather(1, renamed[:, None]), x.gather(1, target[:, None]))
    assert _done(x, Edit("mapped", 1, key="V"), more=(target,))[1] is target


def test_the_head_before_a_tail_is_kept() -> None:
    """Inputs change behind a place that the result's edit knows."""
    trial = Trial("t", "w", then=(Edit("reverse_tail", 0, -2, key="S"),), result=(Edit("head", axis=-2, key="S"),))
    drawn = Drawn(trial, 2, "cpu")
    (y,) = edited((_x(),), trial.then, drawn)
    head = edited_result(_x(), trial.result, drawn)
    assert torch.equal(y[: head.shape[0]], head)
    assert head.shape[0] < 6


def test_layouts_stay() -> None:
    """Transposed inputs keep their strides; elements that share their memory are left alone."""
    x = _x().t()
    assert _done(x, Edit("permute"))[0].stride() == x.stride()
    spread = torch.randn(1, 40).expand(6, 40)
    assert _done(spread, Edit("shifts", 0, -2, 4.0))[0] is spread


def test_one_element_of_each_sum_is_kept() -> None:
    """At a random place, as it was drawn; signs make it one, and an axis that is not there leaves all."""
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(3)).bfloat16()
    drawn = Drawn(Trial("t", ""), 7, "cpu")
    (kept,) = edited((x,), (Edit("single", 0, -2),), drawn)
    assert kept.count_nonzero(0).tolist() == [1] * 5
    assert bool((kept[kept != 0] == x[kept != 0]).all())
    (ones,) = edited((kept,), (Edit("signs", 0, value=1.0),), drawn)
    assert set(ones.unique().tolist()) <= {-1.0, 0.0, 1.0}
    vector = x[0].contiguous()
    (same,) = edited((vector,), (Edit("single", 0, -2),), drawn)
    assert same is vector
    (one,) = edited((vector,), (Edit("single", 0, -1),), drawn)
    assert int(one.count_nonzero()) == 1


def test_the_first_of_an_axis_leads() -> None:
    """It is positive, all others negative; without the axis everything is positive."""
    x = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(3))
    drawn = Drawn(Trial("t", ""), 7, "cpu")
    (led,) = edited((x,), (Edit("lead", 0, -2),), drawn)
    assert bool((led[:, 0] > 0).all())
    assert bool((led[:, 1:] < 0).all())
    (positive,) = edited((x,), (Edit("lead", 0, -9),), drawn)
    assert bool((positive == x.abs()).all())
