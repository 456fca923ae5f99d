"""Work of a tile kernel: its Tile IR counted with the launch's own arguments."""

from __future__ import annotations

from math import prod

from kopt_kb.analysis.ir.triton import IrCount
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Compilation, Given, number
from kopt_kb.packs.cutile.compile import DIALECT
from kopt_kb.packs.cutile.source.tile_count import TileArray, count_tile_ir

__all__ = ["count_tiles"]


def count_tiles(compilation: Compilation, grid: tuple[int, ...]) -> IrCount:
    """Return the count of a compilation's Tile IR; raises `IrError` for what can't be counted, with its line."""
    arguments = [_argument(value) for _, value in compilation.arguments]
    text = compilation.dialects[DIALECT]
    return count_tile_ir(text, grid, arguments, file=f"<Tile IR of {compilation.name}>")


def _argument(given: Given) -> TileArray | float | None:
    value = number(given) if given is not None else None
    if isinstance(value, TensorSpec):
        strides = value.strides or tuple(prod(value.shape[at + 1 :]) for at in range(len(value.shape)))
        return TileArray(value.shape, strides)
    return value
