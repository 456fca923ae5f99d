"""How much of each input is drawn freely: an element that follows from others need not be read."""

# mypy: allow-subclassing-any
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

__all__ = ["FreeShare", "drawn_shares"]

_DRAWS = frozenset({"rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "uniform_", "normal_",
                    "bernoulli", "bernoulli_", "random_", "exponential_", "normal"})  # fmt: skip
_SAME = frozenset({"view", "_unsafe_view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "clone",
                   "_to_copy", "alias", "detach", "contiguous", "lift_fresh", "flip", "roll", "slice",
                   "select"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class FreeShare:
    """How much of a tensor is drawn freely.

    Attributes:
        share: Of its elements, the others follow from them; 0 where that is not known.
        sources: Draws that it comes from; none for a constant.
        why: In words; empty where every element is a draw of its own.
    """

    share: Fraction
    sources: frozenset[int]
    why: str = ""


_CONSTANT = FreeShare(Fraction(0), frozenset(), "a constant")


class _Draws(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, FreeShare] = {}
        self._alive: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        outs = [one for one in tree_leaves(out) if isinstance(one, torch.Tensor)]
        for one in outs:
            self.known[id(one)] = self._of(func, args, one)
        self._alive += outs
        return out

    def _of(self, func: Any, args: Sequence[Any], out: Any) -> FreeShare:
        name = str(func.overloadpacket.__name__)
        given = [one for one in tree_leaves(args) if isinstance(one, torch.Tensor)]
        if name in _DRAWS:
            return FreeShare(Fraction(1), frozenset({len(self._alive)}))
        drawn = [(one, self.known.get(id(one), _CONSTANT)) for one in given]
        random = [(one, each) for one, each in drawn if each.sources]
        if not random:
            return _CONSTANT
        first = random[0][1]
        if name in _SAME:
            return first
        if name in {"tril", "triu"}:
            return FreeShare(first.share * _half(out, name, args), first.sources, f"zeros of {name}")
        if name == "_softmax":
            rest = Fraction(out.shape[args[1]] - 1, out.shape[args[1]])
            return FreeShare(first.share * rest, first.sources, "rows sum to 1")
        if torch.Tag.pointwise in func.tags:
            return _pointwise(func, args, out, drawn)
        return FreeShare(Fraction(0), frozenset().union(*(each.sources for _, each in random)), f"made by {name}")


def _half(out: Any, name: str, args: Sequence[Any]) -> Fraction:
    """Return the share of a matrix that tril or triu keeps."""
    rows, columns = int(out.shape[-2]), int(out.shape[-1])
    offset = int(args[1]) if len(args) > 1 else 0
    below = sum(min(max(row + offset + 1, 0), columns) for row in range(rows))  # of tril
    above = sum(columns - min(max(row + offset, 0), columns) for row in range(rows))
    return Fraction(below if name == "tril" else above, rows * columns)


def _pointwise(func: Any, args: Sequence[Any], out: Any, drawn: Sequence[tuple[Any, FreeShare]]) -> FreeShare:
    name = str(func.overloadpacket.__name__)
    sources = frozenset[int]().union(*(each.sources for _, each in drawn))
    full = [(one, each) for one, each in drawn if one.numel() == out.numel() and each.sources]
    zero = any(isinstance(one, int | float) and one == 0 for one in args) and name.startswith(("mul", "pow"))
    masks = [one for one, each in drawn if not each.sources and one.numel() > 1]
    if zero or masks or not full:
        return FreeShare(Fraction(0), sources, f"made by {name}")
    if len(full) == 1:
        return FreeShare(full[0][1].share, sources, full[0][1].why)
    (left, one), (_, two) = full[:2]
    if len(full) == 2 and not one.sources & two.sources:
        return FreeShare(max(one.share, two.share), sources, one.why)
    extent = int(left.shape[-1]) if left.ndim > 1 else 0
    if name in {"add", "add_", "mul"} and len(full) == 2 and extent and left.shape[-2] == extent:
        return FreeShare(min(one.share, two.share) * Fraction(extent + 1, 2 * extent), sources, "symmetric at the most")
    return FreeShare(Fraction(0), sources, f"made by {name} of one draw twice")


def drawn_shares(make: Callable[[], Any]) -> tuple[list[Any], dict[int, FreeShare]]:
    """Return what a function makes, and how much of each of its tensors was drawn freely, by the tensor's id.

    Of two tensors that come from one draw the first counts.
    """
    draws = _Draws()
    with draws:
        made = list(make())
    used: set[int] = set()
    shares: dict[int, FreeShare] = {}
    for one in made:
        if isinstance(one, torch.Tensor):
            known = draws.known.get(id(one), _CONSTANT)
            again = known.sources & used
            shares[id(one)] = FreeShare(Fraction(0), known.sources, "follows from another input") if again else known
            used |= known.sources
    return made, shares
