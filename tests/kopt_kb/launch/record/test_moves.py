"""Moves between layouts and types are what torch does; what no kernel of the judge does is none."""

from __future__ import annotations

import itertools

import pytest

from kopt_kb.launch.record.model import TensorView
from kopt_kb.launch.record.moves import MOST_RANK, Move, converts, move_of, moved
from kopt_kb.problem.dtypes import format_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
NUMBERS = ("fp16", "bf16", "fp32", "fp64", "i8", "u8", "i16", "i32", "i64", "i1")


def _view(tensor, name: str) -> TensorView:
    dtype = format_of(str(tensor.dtype))
    return TensorView(name, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()), dtype.triton)


def _done(source, target) -> Move:
    """Do the move of a tensor into another, on their bytes."""
    what = move_of(_view(source, "x"), _view(target, "out"))
    assert what is not None
    read = bytes(source.untyped_storage())
    begin, into = source.storage_offset() * source.element_size(), target.storage_offset() * target.element_size()
    for place, one in moved(what, lambda at, size: read[begin + at : begin + at + size]):
        for number, byte in enumerate(one):
            target.untyped_storage()[into + place + number] = byte
    return what


@pytest.mark.parametrize(
    ("make", "into", "rank"),
    [
        (lambda x: x.t(), (7, 5), 2),
        (lambda x: x, (5, 7), 1),
        (lambda x: x[:, ::2], (5, 4), 2),
        (lambda x: x[1:3].expand(3, 2, 7), (3, 2, 7), 2),
        (lambda x: x.view(5, 7, 1).permute(2, 1, 0), (1, 7, 5), 2),
        (lambda x: x[:0], (0, 7), 1),
        (lambda x: x[:1, :1], (1, 1), 1),
    ],
)
def test_layouts(make, into: tuple[int, ...], rank: int) -> None:
    """Transposed, with gaps, broadcast, empty: bytes stay, axes that lie alike are joined."""
    source = make(torch.arange(35, dtype=torch.int32).view(5, 7))
    target = torch.full(into, -1, dtype=torch.int32)
    what = _done(source, target)
    assert torch.equal(target, source)
    assert len(what.extents) == rank
    assert what.count == target.numel()


def test_a_target_with_gaps_keeps_what_lies_between() -> None:
    """Only its elements are written."""
    target = torch.zeros(4, 6)
    _done(torch.ones(4, 3), target[:, ::2])
    assert torch.equal(target, torch.tensor([[1.0, 0.0] * 3] * 4))


@pytest.mark.parametrize(("source", "target"), list(itertools.product(NUMBERS, NUMBERS)))
def test_numbers_are_converted_as_torch_converts_them(source: str, target: str) -> None:
    """Rounded to the nearest even, cut towards zero to integers, infinities and NaN kept."""
    kinds = [getattr(torch, format_of(one).torch) for one in (source, target)]
    values = torch.tensor([0.0, 1.0, -2.5, 3.0039, 65519.0, 100.7, -0.0])
    values = values.abs() if source in {"u8", "i1"} or target in {"u8", "i1"} else values
    small = {"i8", "u8"} & {source, target}
    given = (values % 100 if small else values).to(kinds[0])
    if "i" not in target and "u" not in target and given.is_floating_point():
        given = torch.cat([given, torch.tensor([float("inf"), float("nan"), 1e6], dtype=kinds[0])])
    into = torch.empty(given.shape, dtype=kinds[1])
    _done(given, into)
    expected = given.to(kinds[1])
    assert torch.equal(into.isnan(), expected.isnan())
    assert torch.equal(into.nan_to_num(), expected.nan_to_num())


def test_what_no_kernel_does_is_none() -> None:
    """Types without numbers of ours, unless they stay what they are; too many axes that lie apart."""
    small, wide = TensorView("x", 0, (4,), (1,), "fp8e5"), TensorView("y", 0, (4,), (1,), "fp32")
    assert not converts("fp8e5", "fp32")
    assert move_of(small, wide) is None
    assert move_of(small, small) is not None
    assert MOST_RANK == 5
    strides = tuple(3**axis for axis in range(6))
    assert (
        move_of(TensorView("x", 0, (2,) * 6, strides, "fp32"), TensorView("y", 0, (2,) * 6, strides[::-1], "fp32"))
        is None
    )


def test_values_fit_the_kernel() -> None:
    """Eighteen behind two addresses, whatever the rank."""
    (one,) = {len(Move(1, (1,) * rank, (0,) * rank, (0,) * rank, 0, 0).values) for rank in range(1, 6)}
    assert one == 18
