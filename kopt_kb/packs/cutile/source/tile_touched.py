"""Which elements of arrays are touched by tiles that lie on a grid, tiles of other sizes laid over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["BlockLanes", "TileTouched"]

BlockLanes = np.ndarray[Any, np.dtype[Any]]
"""One number a block."""


class TileTouched:
    """The tiles of each array that were touched."""

    def __init__(self) -> None:
        self._arrays: dict[object, tuple[tuple[int, ...], int, dict[tuple[int, ...], BlockLanes]]] = {}

    def add(
        self, base: object, shape: tuple[int, ...], item_bytes: int, tile: tuple[int, ...], index: Sequence[BlockLanes],
        active: BlockLanes,
    ) -> tuple[int, bool]:  # fmt: skip
        """Touch one tile in each active block.

        Args:
            base: Which array.
            shape: Its extents.
            item_bytes: Of an element.
            tile: Extents of the tile along the array's axes.
            index: Place of the tile on the grid of such tiles, along the array's axes, one number a block.
            active: The blocks that come there.

        Returns:
            Bytes that lie within the array, repeats counted, and whether a tile reaches beyond it.
        """
        if not active.any():
            return 0, False
        places = [one[active] for one in index]
        within = [np.clip(size - at * step, 0, step) for size, at, step in zip(shape, places, tile, strict=True)]
        within = [np.where(at < 0, 0, one) for at, one in zip(places, within, strict=True)]
        lanes = np.prod(np.stack(within), axis=0) if within else np.ones(len(active), np.int64)
        _, _, tiles = self._arrays.setdefault((base, shape), (shape, item_bytes, {}))
        extents = tuple(-(-size // step) for size, step in zip(shape, tile, strict=True))
        marked = tiles.setdefault(tile, np.zeros(extents, dtype=bool))
        here = lanes > 0
        marked[tuple(one[here] for one in places)] = True
        return int(lanes.sum()) * item_bytes, bool((lanes < int(np.prod(tile))).any())

    def size_bytes(self) -> int:
        """Return the bytes of all elements that were touched, each once."""
        return sum(_elements(shape, tiles) * item for shape, item, tiles in self._arrays.values())


def _elements(shape: tuple[int, ...], tiles: dict[tuple[int, ...], BlockLanes]) -> int:
    cell = tuple(int(np.gcd.reduce([tile[axis] for tile in tiles])) for axis in range(len(shape)))
    extents = tuple(-(-size // step) for size, step in zip(shape, cell, strict=True))
    whole = np.zeros(extents, dtype=bool)
    for tile, marked in tiles.items():
        fine = marked
        for axis, (step, least) in enumerate(zip(tile, cell, strict=True)):
            fine = np.repeat(fine, step // least, axis=axis)
        whole |= fine[tuple(slice(size) for size in extents)]
    counts = whole.astype(np.int64)
    for axis, (size, step) in enumerate(zip(shape, cell, strict=True)):
        lengths = np.minimum(np.arange(extents[axis]) * step + step, size) - np.arange(extents[axis]) * step
        counts = counts * lengths.reshape([-1 if at == axis else 1 for at in range(len(shape))])
    return int(counts.sum())
