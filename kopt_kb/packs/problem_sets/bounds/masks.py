"""Which indices of each axis of a tensor are needed, as one mask an axis: the needed elements are their product.

Every rule here keeps to a subset of what is needed: where a product of masks can't say it, some is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

Masks = tuple[np.ndarray, ...]

__all__ = ["Masks", "all_of", "broadcast_to", "is_whole", "joined", "needed_elements", "reshaped", "windows"]

_MOST = 1 << 22
"""Elements of a group of axes up to which a partial mask is carried through a reshape."""


def all_of(shape: Sequence[int]) -> Masks:
    """Return the masks of a whole tensor."""
    return tuple(np.ones(extent, dtype=bool) for extent in shape)


def is_whole(masks: Masks) -> bool:
    """Return whether every element is needed."""
    return all(bool(one.all()) for one in masks)


def needed_elements(masks: Masks | None) -> int:
    """Return how many elements are needed; none where nothing is known."""
    return 0 if masks is None else prod(int(one.sum()) for one in masks)


def joined(one: Masks | None, two: Masks | None) -> Masks | None:
    """Return a subset of the union: the union itself where the two differ in one axis at the most."""
    if one is None or two is None:
        return two if one is None else one
    differing = [at for at, (left, right) in enumerate(zip(one, two, strict=True)) if (left != right).any()]
    if len(differing) <= 1:
        return tuple(left | right for left, right in zip(one, two, strict=True))
    return max(one, two, key=needed_elements)


def broadcast_to(masks: Masks, shape: Sequence[int]) -> Masks:
    """Return the masks of an operand of an elementwise operation from those of its result."""
    own = masks[len(masks) - len(shape) :]
    return tuple(
        np.asarray(mask.any(keepdims=True)) if extent == 1 and len(mask) != 1 else mask
        for mask, extent in zip(own, shape, strict=True)
    )


def windows(needed: np.ndarray, extent: int, kernel: int, stride: int, start: int, step: int) -> np.ndarray:
    """Return which inputs the needed outputs of a window reach: output o reads o * stride + start + k * step."""
    found = np.zeros(extent, dtype=bool)
    first = np.flatnonzero(needed) * stride + start
    for tap in range(kernel):
        at = first + tap * step
        found[at[(at >= 0) & (at < extent)]] = True
    return found


def reshaped(masks: Masks, before: Sequence[int], after: Sequence[int]) -> Masks | None:
    """Return the masks of a tensor of shape `before` from those of its reshape to `after`; None where none is known."""
    if is_whole(masks):
        return all_of(before)
    found: list[np.ndarray] = []
    left = right = 0
    while left < len(before) or right < len(after):
        ends = _group(before, after, left, right)
        part = _regrouped(masks[right : ends[1]], before[left : ends[0]])
        if part is None:
            return None
        found += part
        left, right = ends
    return tuple(found)


def _group(before: Sequence[int], after: Sequence[int], left: int, right: int) -> tuple[int, int]:
    """Return where the next axes of both that have equally many elements end."""
    one, two = left + (left < len(before)), right + (right < len(after))
    while prod(before[left:one]) != prod(after[right:two]):
        if prod(before[left:one]) < prod(after[right:two]):
            one += 1
        else:
            two += 1
    return one, two


def _regrouped(masks: Masks, before: Sequence[int]) -> list[np.ndarray] | None:

    if not masks or is_whole(masks):
        return list(all_of(before))
    if len(masks) == len(before) == 1:
        return list(masks)
    total = prod(len(one) for one in masks)
    if total > _MOST:
        return None
    flat = np.ones(1, dtype=bool)
    for one in masks:
        flat = (flat[:, None] & one[None, :]).reshape(-1)
    cells = flat.reshape(tuple(before))
    others_of = [tuple(at for at in range(len(before)) if at != axis) for axis in range(len(before))]
    exact: list[np.ndarray] = [np.asarray(cells.any(axis=others)) for others in others_of]
    if prod(int(one.sum()) for one in exact) == int(flat.sum()):
        return exact
    candidates: list[list[np.ndarray]] = [
        [np.asarray(cells.all(axis=others)) if at == axis else np.ones(extent, dtype=bool)
         for at, extent in enumerate(before)]
        for axis, others in enumerate(others_of)
    ]  # fmt: skip
    return max(candidates, key=lambda one: needed_elements(tuple(one)))
