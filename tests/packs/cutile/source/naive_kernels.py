"""cuTile kernels as people write them first: gathers, a grid as large as the work, nothing hinted. Read as text."""

# ruff: noqa: N803
# mypy: ignore-errors

import cuda.tile as ct
import torch

TILE = 8


@ct.kernel
def scale_rows(x, w, y, cols: ct.Constant[int], TILE_COLS: ct.Constant[int]):
    row = ct.bid(0)
    lane = ct.arange(TILE_COLS, dtype=ct.int32)
    values = ct.gather(x, (row, lane))
    weight = ct.gather(w, lane)

    scale = ct.rsqrt(ct.sum(values * values) / cols)
    ct.scatter(y, (row, lane), values * scale * weight)


@ct.kernel
def multiply(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """One tile of C a block."""
    i = ct.bid(0)
    j = ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for step in range(ct.cdiv(a.shape[1], TK)):
        rows = i * TM + ct.arange(TM, dtype=ct.int32)
        depth = step * TK + ct.arange(TK, dtype=ct.int32)
        cols = ct.arange(TN, dtype=ct.int32) + TN * j
        left = ct.gather(a, (rows[:, None], depth[None, :]))
        right = ct.gather(b, (depth[:, None], cols[None, :]), padding_value=0)
        acc = ct.mma(left, right, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))


def launch_rows(x, w):
    out = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (x.shape[0], 1, 1), scale_rows, (x, w, out, x.shape[1], 16))
    return out


def launch_product(a, b):
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype)
    grid = (-(-a.shape[0] // TILE), -(-b.shape[1] // TILE), 1)
    ct.launch(torch.cuda.current_stream(), grid, multiply, (a, b, out, TILE, TILE, TILE))
    return out
