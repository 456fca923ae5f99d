"""Touched elements against a mask of every element."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.packs.cutile.source.tile_touched import TileTouched


@pytest.mark.parametrize("seed", range(6))
def test_tiles_of_several_sizes_laid_over_each_other(seed: int) -> None:
    """Edges are cut, repeats count once, tiles outside count nothing."""
    draw = np.random.default_rng(seed)
    shape = tuple(int(one) for one in draw.integers(1, 40, size=2))
    touched, whole, asked = TileTouched(), np.zeros(shape, dtype=bool), 0
    for _ in range(4):
        tile = tuple(int(2**one) for one in draw.integers(0, 4, size=2))
        index = [draw.integers(-1, -(-size // step) + 1, size=5) for size, step in zip(shape, tile, strict=True)]
        active = draw.integers(0, 2, size=5).astype(bool)
        found, beyond = touched.add("x", shape, 2, tile, index, active)
        sizes = []
        for row, column in zip(index[0][active], index[1][active], strict=True):
            inside = row >= 0 and column >= 0
            part = whole[row * tile[0] :, column * tile[1] :][: tile[0], : tile[1]] if inside else whole[:0, :0]
            part[:] = True
            sizes.append(part.size)
        asked += 2 * sum(sizes)
        assert (found, beyond) == (2 * sum(sizes), any(size < tile[0] * tile[1] for size in sizes))
    assert touched.size_bytes() == 2 * int(whole.sum())
