"""Inputs of a trial: the edits that an operation declares, carried out on tensors; everything follows from a seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

from kopt_kb.problem.trials import Edit, Trial

__all__ = ["Drawn", "edited", "edited_result", "fits", "trial_inputs"]

_EIGHTHS, _GRID_MOST = 8.0, 4.0
_ABOVE_FLUSH = 2.0**14


class Drawn:
    """What the edits of one check draw: a generator, and draws that several edits share by key."""

    def __init__(self, trial: Trial, seed: int, device: Any) -> None:
        import torch

        self._generator = torch.Generator(device=device).manual_seed(seed ^ zlib.crc32(trial.name.encode()))
        self._device = device
        self._held: dict[tuple[str, str, int], Any] = {}

    def _shared(self, edit: Edit, kind: str, extent: int, draw: Callable[[], Any]) -> Any:
        if not edit.key:
            return draw()
        name = (edit.key, kind, extent)
        if name not in self._held:
            self._held[name] = draw()
        return self._held[name]

    def whole(self, edit: Edit, extent: int, least: int, most: int) -> Any:
        """Return whole numbers from `least` to `most`, one for each index."""
        import torch

        return self._shared(
            edit,
            "whole",
            extent,
            lambda: torch.randint(least, most + 1, (extent,), generator=self._generator, device=self._device),
        )

    def share(self, shape: Sequence[int]) -> Any:
        """Return numbers from 0 to 1."""
        import torch

        return torch.rand(tuple(shape), generator=self._generator, device=self._device)

    def place(self, edit: Edit, extent: int) -> int:
        """Return one place of an axis."""
        return int(self._shared(edit, "place", extent, lambda: self.whole(Edit("place"), 1, 0, extent - 1))[0])

    def places(self, shape: Sequence[int], extent: int) -> Any:
        """Return one place of the last axis for each row."""
        return (self.share(shape) * extent).long().clamp_(max=extent - 1)

    def last_order(self, key: str) -> Any:
        """Return the order that an edit with this key drew, None when none did."""
        return next((held for (name, kind, _), held in self._held.items() if (name, kind) == (key, "order")), None)

    def order(self, edit: Edit, extent: int) -> Any:
        """Return an order of an axis."""
        import torch

        return self._shared(
            edit, "order", extent, lambda: torch.randperm(extent, generator=self._generator, device=self._device)
        )


def trial_inputs(base: Sequence[Any], trial: Trial, drawn: Drawn) -> tuple[Any, ...]:
    """Return the inputs of a trial's first run, from what `make_inputs` drew."""
    return edited(base, trial.edits, drawn)


def fits(base: Sequence[Any], trial: Trial) -> bool:
    """Return whether a trial changes inputs such as these: those of floating types, and all where it says so."""
    floating = [one for one in base if one.is_floating_point()]
    return bool(floating) or trial.integers


def edited(tensors: Sequence[Any], edits: Sequence[Edit], drawn: Drawn) -> tuple[Any, ...]:
    """Return tensors after edits; those that no edit names are the same objects, and none is changed in place."""
    out = list(tensors)
    for edit in edits:
        if edit.tensor < len(out) and out[edit.tensor].numel():
            out[edit.tensor] = _one(out[edit.tensor], edit, drawn)
    return tuple(out)


def edited_result(result: Any, edits: Sequence[Edit], drawn: Drawn) -> Any:
    """Return what a trial's second run has to give, from what its first gave."""
    for edit in edits:
        result = _one(result, edit, drawn)
    return result


def _one(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    if not tensor.is_floating_point() and edit.kind not in {"mapped", "permute", "reverse_tail", "head"}:
        return tensor
    changed = _KINDS[edit.kind](tensor, edit, drawn)
    if changed.shape != tensor.shape or changed.stride() == tensor.stride():
        return changed
    # A record counts in the strides of its inputs: an edit leaves them as they were.
    if _shares(tensor):
        return tensor
    spread = tensor.new_empty_strided(tensor.shape, tensor.stride())
    return spread.copy_(changed)


def _shares(tensor: Any) -> bool:
    return any(step == 0 and extent > 1 for step, extent in zip(tensor.stride(), tensor.shape, strict=True))


def _along(values: Any, tensor: Any, axis: int) -> Any:
    """Return one value for each index of an axis, spread so that it broadcasts; one for all without that axis."""
    if tensor.ndim < -axis:
        return values[0]
    return values.reshape([-1 if place == tensor.ndim + axis else 1 for place in range(tensor.ndim)])


def _extent(tensor: Any, axis: int) -> int:
    return int(tensor.shape[axis]) if tensor.ndim >= -axis else 1


def _powers(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    most = int(edit.value)
    exponents = drawn.whole(edit, _extent(tensor, edit.axis), -most, most if edit.kind == "powers" else 0)
    factors = (2.0 ** (-exponents if edit.inverse else exponents).double()).to(tensor.dtype)
    return tensor * _along(factors, tensor, edit.axis)


def _shifts(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    most = int(8 * edit.value)
    steps = drawn.whole(edit, _extent(tensor, edit.axis), -most, most).to(tensor.dtype) / _EIGHTHS
    return tensor + _along(steps, tensor, edit.axis)


def _place(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    if not tensor.ndim:
        return tensor
    places = drawn.places(tensor.shape[:-1], tensor.shape[-1])
    return tensor.clone().scatter_(-1, places.unsqueeze(-1), edit.value)


def _equal(tensor: Any, _: Edit, drawn: Drawn) -> Any:
    if not tensor.ndim:
        return tensor
    places = drawn.places(tensor.shape[:-1], tensor.shape[-1]).unsqueeze(-1)
    return tensor.gather(-1, places).expand(tensor.shape).contiguous()


def _tiny(tensor: Any, edit: Edit, _: Drawn) -> Any:
    import torch

    kind = torch.finfo(tensor.dtype)
    # Below the least normal number of fp32 a machine may flush; narrower types have to keep their subnormal ones.
    least = max(kind.smallest_normal, torch.finfo(torch.float32).smallest_normal * _ABOVE_FLUSH)
    return (tensor.double() * (edit.value * least)).to(tensor.dtype)


def _mask(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    if not tensor.ndim:
        return tensor
    seen = drawn.share(tensor.shape) >= edit.value
    seen.scatter_(-1, drawn.places(tensor.shape[:-1], tensor.shape[-1]).unsqueeze(-1), True)
    return tensor.where(seen, tensor.new_full((), float("-inf")))


def _alternate(tensor: Any, edit: Edit, _: Drawn) -> Any:
    import torch

    signs = 1 - 2 * (torch.arange(_extent(tensor, edit.axis), device=tensor.device) % 2)
    return tensor.abs() * _along(signs.to(tensor.dtype), tensor, edit.axis)


def _zero(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    kept = drawn.whole(edit, _extent(tensor, edit.axis), 0, 1).to(tensor.dtype)
    return tensor * _along(kept, tensor, edit.axis)


def _permute(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    if tensor.ndim < -edit.axis:
        return tensor
    return tensor.index_select(edit.axis, drawn.order(edit, tensor.shape[edit.axis]))


def _mapped(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    """Class c of the first tensor now stands at the place of the order that names c."""
    import torch

    order = drawn.last_order(edit.key)
    if order is None or tensor.is_floating_point():
        return tensor
    place = torch.empty_like(order)
    place[order] = torch.arange(order.numel(), device=order.device)
    return place[tensor.long()].to(tensor.dtype)


def _reverse_tail(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    import torch

    if tensor.ndim < -edit.axis:
        return tensor
    extent = tensor.shape[edit.axis]
    first = drawn.place(edit, extent)
    parts = tensor.narrow(edit.axis, 0, first), tensor.narrow(edit.axis, first, extent - first).flip(edit.axis)
    return torch.cat(parts, edit.axis)


def _head(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    if tensor.ndim < -edit.axis:
        return tensor
    return tensor.narrow(edit.axis, 0, drawn.place(edit, tensor.shape[edit.axis]))


def _single(tensor: Any, edit: Edit, drawn: Drawn) -> Any:
    if tensor.ndim < -edit.axis:
        return tensor
    along = tensor.movedim(edit.axis, -1)
    places = drawn.places(along.shape[:-1], along.shape[-1]).unsqueeze(-1)
    kept = along.new_zeros(along.shape).scatter_(-1, places, along.gather(-1, places))
    return kept.movedim(-1, edit.axis)


def _lead(tensor: Any, edit: Edit, _: Drawn) -> Any:
    signs = tensor.new_full((_extent(tensor, edit.axis),), -1.0)
    signs[0] = 1.0
    return tensor.abs() * _along(signs, tensor, edit.axis)


_KINDS: dict[str, Callable[[Any, Edit, Drawn], Any]] = {
    "powers": _powers,
    "shrink": _powers,
    "shifts": _shifts,
    "scale": lambda tensor, edit, _: tensor * edit.value,
    "shift": lambda tensor, edit, _: tensor + edit.value,
    "place": _place,
    "equal": _equal,
    "tiny": _tiny,
    "mask": _mask,
    "alternate": _alternate,
    "grid": lambda tensor, *_: ((tensor * _EIGHTHS).round() / _EIGHTHS).clamp(-_GRID_MOST, _GRID_MOST),
    "zero": _zero,
    "permute": _permute,
    "mapped": _mapped,
    "reverse_tail": _reverse_tail,
    "head": _head,
    "single": _single,
    "signs": lambda tensor, edit, _: tensor.sign() * edit.value,
    "lead": _lead,
}
