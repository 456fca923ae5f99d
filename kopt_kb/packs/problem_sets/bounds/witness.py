"""What a problem's results depend on, seen on a smaller problem of the same code, in float64.

Two contents that differ in one element and give different results are a witness that the element is read: no correct
answer can do without it. Derivatives are such witnesses for all elements at once; where a result has none (an index),
elements are exchanged row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch.func import functional_call

from kopt_kb.launch.problems.adapted import tensors_of
from kopt_kb.packs.problem_sets.bounds.masks import needed_elements
from kopt_kb.packs.problem_sets.bounds.needed import needs_of
from kopt_kb.packs.problem_sets.bounds.reduced import reductions
from kopt_kb.packs.problem_sets.bounds.traced import Traced, built, given_to, traced

if TYPE_CHECKING:
    from kopt_kb.packs.problem_sets.bounds.masks import Masks

__all__ = ["ResultSeen", "Witness", "witness_of"]

_MOST_DRAWS, _MOST_CALLS = 24, 1200
_CYCLE = 4
"""Kinds of contents that draws take in turn: a whole turn that shows nothing new is the last."""
_MOST_WORK = 4 * 10**10
"""Operations and touched elements of all calls together. The end of the draws is no matter of seconds: on a slow or a
busy machine the same is shown."""
_TOUCHED, _BACKWARD = 8, 3
"""Operations that an element of a result counts for; calls that one with its derivatives stands for."""
_MOST_ELEMENTS = 1 << 28
_MOST_FLOPS = 4 * 10**10
_NOISE = 1e-9
"""Share of the largest derivative, or of the largest result, below which a number is rounding."""
_ROUNDING = 1e-13
"""Derivatives this small beside results over contents are rounding in float64 too: a constant result has no others."""

_LEAST_SCALE = 1e-3
"""Results smaller than this are taken for differences of larger numbers, with the rounding of those."""


@dataclass(frozen=True, slots=True)
class ResultSeen:
    """A result over several contents: the share of its elements that vary, and axes along which all are equal."""

    varying: float
    repeated: frozenset[int]


@dataclass(slots=True)
class Witness:
    """What was seen.

    Attributes:
        how: How the problem was made smaller.
        read: Inputs and weights of which every row of every axis that the code needs was seen to matter.
        partly: Of the others, the share of the rows that was seen.
        lacking: Those of them that the code needs.
        results: Of each result.
        draws: Contents that were tried.
    """

    how: str
    read: set[str] = field(default_factory=set)
    partly: dict[str, float] = field(default_factory=dict)
    lacking: set[str] = field(default_factory=set)
    results: tuple[ResultSeen, ...] = ()
    draws: int = 0


def witness_of(text: str, where: str) -> Witness | None:
    """Return what the smallest version of a problem that runs shows; None where none runs.

    Args:
        text: The problem's file.
        where: Its name.
    """
    first: Witness | None = None
    for how, module in reductions(text, where):
        try:
            found = traced(module)
            if _elements(found) > _MOST_ELEMENTS or _flops(found) > _MOST_FLOPS:
                continue
            seen = _seen(module, found, how)
        except Exception:  # noqa: BLE001, S112 - extents that do not fit each other: the next larger ones may
            continue
        if first is not None:  # extents in another relation, such as a square that was none, show the rest
            first.read |= seen.read
            return first
        first = seen
        if not any(one.kind == "input" and one.name in seen.lacking for one in found.given):
            return seen
    return first


def _elements(found: Traced) -> int:
    return sum(one.meta["val"].numel() for one in found.graph.nodes if isinstance(one.meta.get("val"), torch.Tensor))


def _flops(found: Traced) -> int:
    total = 0
    for node in found.graph.nodes:
        name = getattr(getattr(node.target, "overloadpacket", None), "__name__", "")
        if name in {"convolution", "mm", "bmm", "addmm"}:
            kernel = node.args[1].meta["val"] if name != "addmm" else node.args[2].meta["val"]
            is_transposed = name == "convolution" and node.args[6]
            inner = kernel.numel() // kernel.shape[0] if name == "convolution" else kernel.shape[-2]
            total += 2 * (node.args[0] if is_transposed else node).meta["val"].numel() * int(inner)
    return total


@dataclass(slots=True)
class _Shown:
    """Rows of each axis of a tensor in which an element was seen to matter; of a number one row of one axis."""

    rows: list[torch.Tensor]

    @classmethod
    def of(cls, tensor: Any) -> _Shown:
        return cls([torch.zeros(int(extent), dtype=torch.bool) for extent in tensor.shape or (1,)])

    def add(self, elements: torch.Tensor) -> None:
        """Take elements that matter."""
        for axis, rows in enumerate(self.rows):
            others = [at for at in range(elements.ndim) if at != axis]
            rows.logical_or_(elements.any(dim=others) if others else elements.reshape(-1))


@dataclass(slots=True)
class _Run:
    """The model in float64 with its state and inputs of one draw."""

    model: Any
    state: dict[str, torch.Tensor]
    arguments: list[Any]

    def result(self, state: dict[str, torch.Tensor], arguments: list[Any]) -> tuple[Any, ...]:
        torch.manual_seed(7)  # what the model draws itself is the same in every call
        kept = {name: one.clone() if name in self.buffers else one for name, one in state.items()}
        return tensors_of(functional_call(self.model, kept, tuple(arguments)))

    @property
    def buffers(self) -> set[str]:
        return {name for name, _ in self.model.named_buffers()}


@dataclass(slots=True)
class _Work:
    """What may still be spent on calls of the model, in operations."""

    call: int
    left: int

    def spend(self, calls: int) -> bool:
        """Take so many calls off; whether there was enough for them."""
        self.left -= calls * self.call
        return self.left >= 0


def _seen(module: ModuleType, found: Traced, how: str) -> Witness:
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        model = built(module).double()
        state = {name: _wide(one) for name, (_, one) in given_to(model).items()}
        run = _Run(model, state, [])
        needs, _ = needs_of(found)
        wanted = {one.name: needs.get(one.node) for one in found.given}
        seen = {one.name: _Shown.of(one.tensor) for one in found.given}
        sloped = [one for one in found.given if one.kind != "buffer" and one.tensor.is_floating_point()]
        witness, work = Witness(how), _Work(_flops(found) + _TOUCHED * _elements(found), _MOST_WORK)
        results: list[list[Any]] = []
        known: list[float] = []
        for draw in range(_MOST_DRAWS):
            torch.manual_seed(1000 + draw)
            run.arguments = [_contents(one, draw) for one in module.get_inputs()]
            lacking = [one.kind == "weight" for one in sloped if _lacks(seen[one.name], wanted[one.name])]
            # A model that is never trained may write in place what a derivative would need.
            with torch.autograd.graph.allow_mutation_on_saved_tensors():
                results.append(_drawn(run, seen, inputs=False in lacking, weights=True in lacking))
            witness.draws = draw + 1
            varying = [_result(list(each)).varying for each in zip(*results, strict=True)]
            known.append(sum(varying) + sum(int(rows.sum()) for one in seen.values() for rows in one.rows))
            is_old = draw >= _CYCLE and known[draw] == known[draw - _CYCLE]
            is_spent = not work.spend(1 + _BACKWARD * len(set(lacking)))
            if draw and (is_old or is_spent or not (lacking or any(one < 1 for one in varying))):
                break
        _exchanged(run, module, seen, wanted, work)
    finally:
        torch.set_default_dtype(before)
    for name, masks in wanted.items():
        share = _covered(seen[name], masks)
        if share == 1 and needed_elements(masks):
            witness.read.add(name)
        else:
            witness.partly[name] = share
            witness.lacking |= {name} if needed_elements(masks) else set()
    witness.results = tuple(_result(list(each)) for each in zip(*results, strict=True))
    return witness


def _lacks(seen: _Shown, masks: Masks | None) -> bool:
    """Return whether a needed row was not seen to matter yet."""
    return bool(needed_elements(masks)) and _covered(seen, masks) != 1


def _drawn(run: _Run, seen: dict[str, _Shown], *, inputs: bool, weights: bool) -> list[Any]:
    """Return the results of one draw, and mark what derivatives show of inputs and of weights where some lack it."""
    results = _derivatives(run, seen, weights=False) if inputs else None
    if weights:
        _derivatives(run, seen, weights=True)
    if results is not None:
        return results
    with torch.no_grad():
        return list(run.result(run.state, run.arguments))


def _wide(tensor: Any) -> Any:
    return tensor.double() if tensor.is_floating_point() else tensor


def _contents(one: Any, draw: int) -> Any:
    """Return an argument in float64: as drawn, then with normal factors, which keep zeros where they are."""
    if not isinstance(one, torch.Tensor):
        return one
    if not one.is_floating_point():
        return one
    wide = one.double()
    if draw % _CYCLE == 3:  # magnitudes near 1: long products neither vanish nor grow
        return torch.where(wide == 0, wide, torch.randn_like(wide).sign() * (0.05 * torch.randn_like(wide)).exp())
    return wide if draw == 0 else wide * torch.randn_like(wide) * (1.0, 1.0, 4.0)[draw % _CYCLE]


def _derivatives(run: _Run, seen: dict[str, _Shown], *, weights: bool) -> list[Any]:
    """Mark what the results' derivatives show; of weights those on other values than the file's own."""
    state = {name: _moved(one) if weights else one for name, one in run.state.items()}
    kept = run.buffers
    state = {
        name: one.clone().requires_grad_(weights and name not in kept and one.is_floating_point())
        for name, one in state.items()
    }
    arguments = [
        one.clone().requires_grad_(one.is_floating_point() and not weights) if isinstance(one, torch.Tensor) else one
        for one in run.arguments
    ]
    outputs = run.result(state, arguments)
    asked = {name: one for name, one in state.items() if one.requires_grad}
    asked |= {
        f"input{at}": one for at, one in enumerate(arguments) if isinstance(one, torch.Tensor) and one.requires_grad
    }
    ends = [one for one in outputs if one.requires_grad]
    if not asked or not ends:
        return [one.detach() for one in outputs]
    total = sum((one.nan_to_num(0, 0, 0) * torch.randn(one.shape)).sum() for one in ends)
    found = torch.autograd.grad(total, list(asked.values()), allow_unused=True)
    largest = max(float(one.detach().nan_to_num(0, 0, 0).abs().max()) for one in ends if one.numel())
    for (name, tensor), slope in zip(asked.items(), found, strict=True):
        if slope is not None and tensor.numel():
            size = slope.nan_to_num(0, 0, 0).abs()
            reach = float(tensor.detach().abs().max()) or 1.0
            least = max(_NOISE * float(size.max()), _ROUNDING * max(largest, _LEAST_SCALE) / max(reach, _LEAST_SCALE))
            seen[name].add(size > least)
    return [one.detach() for one in outputs]


def _moved(tensor: Any) -> Any:
    if not tensor.is_floating_point():
        return tensor
    return tensor + 0.1 * torch.rand_like(tensor) * (tensor.abs() + 0.5)


def _covered(seen: _Shown, masks: Masks | None) -> float:
    """Return the least share, over the axes, of needed rows in which an element was seen to matter."""
    if masks is None or not needed_elements(masks):
        return 0.0
    wanted = [torch.from_numpy(mask) for mask in masks] or [torch.ones(1, dtype=torch.bool)]
    return min(float((rows & mask).sum()) / max(int(mask.sum()), 1)
               for rows, mask in zip(seen.rows, wanted, strict=True))  # fmt: skip


def _exchanged(
    run: _Run, module: ModuleType, seen: dict[str, _Shown], wanted: dict[str, Masks | None], work: _Work
) -> None:
    """Exchange rows of inputs that no derivative reached, and mark those that change a result.

    A row may be the same in two draws, of whole numbers above all: those that changed nothing are tried with another.
    """
    calls = 0
    with torch.no_grad():
        base = run.result(run.state, run.arguments)
        for turn, (at, one) in product(range(_CYCLE), enumerate(run.arguments)):
            name = f"input{at}"
            if not isinstance(one, torch.Tensor) or not _lacks(seen[name], wanted[name]):
                continue
            torch.manual_seed(999 - turn)
            other = [_contents(each, 1) for each in module.get_inputs()][at]
            for axis, row in _rows(one):
                if bool(seen[name].rows[axis][row]):
                    continue
                place = (*[slice(None)] * axis, row) if one.ndim else ()
                calls += 1
                if calls > _MOST_CALLS or not work.spend(1):
                    return
                changed = one.clone()
                changed[place] = other[place]
                arguments = [changed if each is one else each for each in run.arguments]
                if _differ(base, run.result(run.state, arguments)):
                    seen[name].rows[axis][row] = True


def _rows(tensor: Any) -> Iterator[tuple[int, int]]:
    """Yield (axis, index) of each row; a number is one row of one axis."""
    yield from ((axis, at) for axis, extent in enumerate(tensor.shape or (1,)) for at in range(extent))


def _differ(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    return any(bool(_apart(left, right).any()) for left, right in zip(one, two, strict=True))


def _apart(one: Any, two: Any) -> Any:
    if not one.is_floating_point():
        return one != two
    left, right = one.nan_to_num(0, 0, 0), two.nan_to_num(0, 0, 0)
    scale = max(float(left.abs().max()) if left.numel() else 0.0, _LEAST_SCALE)
    return (left - right).abs() > (_NOISE * torch.maximum(left.abs(), right.abs())).clamp(min=_ROUNDING * scale)


def _result(draws: list[Any]) -> ResultSeen:
    first = draws[0]
    varying = torch.zeros(first.shape, dtype=torch.bool)
    repeated = {axis for axis in range(first.ndim) if first.shape[axis] > 1}
    for one in draws:
        varying |= _apart(first, one)
        repeated -= {axis for axis in repeated if not bool((one == one.narrow(axis, 0, 1)).all())}
    share = float(varying.sum()) / max(varying.numel(), 1)
    return ResultSeen(share, frozenset(repeated))
