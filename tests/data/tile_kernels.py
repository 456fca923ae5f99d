"""Tile kernels for tests: an addition and a matrix product, with the launchers that a record is made of."""

from __future__ import annotations

import cuda.tile as ct
import torch

OP = "gemm"


@ct.kernel
def product(x, y, out, ROWS: ct.Constant[int], COLUMNS: ct.Constant[int], DEPTH: ct.Constant[int]):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.zeros((ROWS, COLUMNS), ct.float32)
    for step in range(ct.num_tiles(x, axis=1, shape=(ROWS, DEPTH))):
        left = ct.load(x, index=(row, step), shape=(ROWS, DEPTH), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(y, index=(step, column), shape=(DEPTH, COLUMNS), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(out, index=(row, column), tile=ct.astype(total, out.dtype))


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return two matrices."""
    rows, columns, depth = shape
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
    generator = torch.Generator().manual_seed(seed)
    sizes = (rows, depth), (depth, columns)
    return tuple(torch.randn(size, generator=generator).to(device=device, dtype=kind) for size in sizes)


def launch(x, y, config=None):
    """Return the product of two matrices."""
    sizes = {"ROWS": 64, "COLUMNS": 64, "DEPTH": 32, **(config or {})}
    out = torch.empty((x.shape[0], y.shape[1]), dtype=x.dtype, device=x.device)
    grid = ct.cdiv(x.shape[0], sizes["ROWS"]), ct.cdiv(y.shape[1], sizes["COLUMNS"])
    stream = torch.cuda.current_stream()
    ct.launch(stream, grid, product, (x, y, out, sizes["ROWS"], sizes["COLUMNS"], sizes["DEPTH"]))
    return out
