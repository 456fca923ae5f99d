"""cuTile on a CPU: the part of cuda.tile that kernels here use, over torch, one block after the other.

Elements of a tile outside its array are NaN unless a padding is asked for, so that a result which rests on them shows.
"""

from __future__ import annotations

import enum
import itertools
import math
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch

__all__ = ["install"]


class PaddingMode(enum.Enum):
    """What a load puts where its array ends."""

    UNDETERMINED = math.nan
    ZERO = 0.0
    NEG_INF = -math.inf


class RoundingMode(enum.Enum):
    """Taken and not followed."""

    FULL = "full"
    APPROX = "approx"


class Constant:
    """`Constant[int]`."""

    def __class_getitem__(cls, _: object) -> type[Constant]:
        return cls


class Kernel:
    """What `@kernel` makes of a function."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def replace_hints(self, **_: object) -> Kernel:
        """Return the kernel: hints change no result."""
        return self


class _Block:
    """The block that runs."""

    index: Sequence[int] = (0, 0, 0)
    grid: Sequence[int] = (1, 1, 1)


def kernel(function: Callable[..., None] | None = None, **_: object) -> Any:
    """Mark a kernel, with hints or without."""
    return Kernel(function) if function is not None else Kernel


def launch(_: object, grid: Sequence[int], marked: Kernel, arguments: Sequence[object]) -> None:
    """Run a kernel's blocks one after the other, the last first: no order may matter."""
    _Block.grid = (*grid, 1, 1)[:3]
    for index in reversed(list(itertools.product(*(range(one) for one in _Block.grid)))):
        _Block.index = index
        marked.function(*arguments)


def load(
    array: torch.Tensor, index: Any, shape: Any, *, order: Sequence[int] | None = None,
    padding_mode: PaddingMode = PaddingMode.UNDETERMINED, **_: object,
) -> torch.Tensor:  # fmt: skip
    """Return the tile at an index of blocks."""
    index, shape = _tuple(index), _tuple(shape)
    if order is not None:
        array = array.permute(*order)
    places = [at * length + torch.arange(length) for at, length in zip(index, shape, strict=True)]
    assert all(0 <= int(one[0]) < size for one, size in zip(places, array.shape, strict=True)), "wholly outside"
    return _taken(array, torch.meshgrid(*places, indexing="ij"), padding_mode.value)


def _taken(array: torch.Tensor, places: Sequence[torch.Tensor], padding: Any) -> torch.Tensor:
    inside = torch.stack([(one >= 0) & (one < size) for one, size in zip(places, array.shape, strict=True)]).all(0)
    held = array[tuple(one.clamp(0, size - 1) for one, size in zip(places, array.shape, strict=True))]
    return torch.where(inside, held, torch.tensor(padding, dtype=array.dtype))


def store(array: torch.Tensor, index: Any, tile: torch.Tensor, **_: object) -> None:
    """Write a tile; what lies outside is left out."""
    index = _tuple(index)
    places = [at * length + torch.arange(length) for at, length in zip(index, tile.shape, strict=True)]
    assert all(0 <= int(one[0]) < size for one, size in zip(places, array.shape, strict=True)), "wholly outside"
    _put(array, torch.meshgrid(*places, indexing="ij"), tile)


def _put(array: torch.Tensor, places: Sequence[torch.Tensor], tile: Any) -> None:
    inside = torch.stack([(one >= 0) & (one < size) for one, size in zip(places, array.shape, strict=True)]).all(0)
    tile = torch.as_tensor(tile).expand(inside.shape)
    array[tuple(one[inside] for one in places)] = tile[inside].to(array.dtype)


def gather(array: torch.Tensor, indices: Any, *, padding_value: Any = 0, mask: Any = None, **_: object) -> torch.Tensor:
    """Return elements by index."""
    found = _taken(array, _broadcast(indices), padding_value)
    return found if mask is None else torch.where(mask, found, torch.tensor(padding_value, dtype=array.dtype))


def scatter(array: torch.Tensor, indices: Any, value: Any, **_: object) -> None:
    """Write elements by index."""
    _put(array, _broadcast(indices), value)


def _broadcast(indices: Any) -> tuple[torch.Tensor, ...]:
    return torch.broadcast_tensors(*(torch.as_tensor(one) for one in _tuple(indices)))


def _tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, tuple | list) else (given,)


TF32 = object()


def astype(tile: torch.Tensor, dtype: Any) -> torch.Tensor:
    """Convert; TF32 drops 13 bits of fp32."""
    if dtype is TF32:
        bits = tile.to(torch.float32).view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)
    return tile.to(dtype)


def num_tiles(array: torch.Tensor, *, axis: int, shape: Any) -> int:
    """Return how many tiles an axis has."""
    return -(-array.shape[axis] // _tuple(shape)[axis])


def _reduced(name: str) -> Callable[..., torch.Tensor]:
    def reduce(tile: torch.Tensor, axis: Any = None, *, keepdims: bool = False) -> torch.Tensor:
        axes = tuple(range(tile.ndim)) if axis is None else _tuple(axis)
        return getattr(torch, name)(tile, axes, keepdim=keepdims)

    return reduce


def _plain(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A function of tiles whose keywords, such as flush_to_zero, change nothing here."""
    return lambda *tiles, **_: function(*map(torch.as_tensor, tiles))


def _names() -> dict[str, object]:
    return {
        "PaddingMode": PaddingMode, "RoundingMode": RoundingMode, "Constant": Constant, "kernel": kernel, "launch": launch,
        "load": load, "store": store, "gather": gather, "scatter": scatter, "astype": astype, "num_tiles": num_tiles,
        "bid": lambda axis: _Block.index[axis], "num_blocks": lambda axis: _Block.grid[axis],
        "cdiv": lambda a, b: -(-a // b), "float32": torch.float32, "int32": torch.int32, "tfloat32": TF32,
        "arange": lambda size, *, dtype, start=0, step=1: torch.arange(start, start + size * step, step, dtype=dtype),
        "full": lambda shape, value, dtype: torch.full(_tuple(shape), value, dtype=dtype),
        "zeros": lambda shape, dtype: torch.zeros(_tuple(shape), dtype=dtype),
        "reshape": lambda tile, shape: tile.reshape(_tuple(shape)), "where": torch.where,
        "mma": lambda x, y, acc, **_: acc + x.to(torch.float32) @ y.to(torch.float32),
        "sum": _reduced("sum"), "max": _reduced("amax"), "maximum": _plain(torch.maximum), "exp2": _plain(torch.exp2),
        "exp": _plain(torch.exp), "rsqrt": _plain(torch.rsqrt), "sqrt": _plain(torch.sqrt), "truediv": _plain(torch.div),
    }  # fmt: skip


@contextmanager
def install() -> Iterator[None]:
    """Let `import cuda.tile` find this, and torch answer for a device of three SMs."""
    tile = types.ModuleType("cuda.tile")
    vars(tile).update(_names())
    parent = types.ModuleType("cuda")
    parent.tile = tile  # type: ignore[attr-defined]
    device = types.SimpleNamespace(multi_processor_count=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cuda", parent)
        patch.setitem(sys.modules, "cuda.tile", tile)
        patch.setattr(torch.cuda, "current_stream", lambda *_: None)
        patch.setattr(torch.cuda, "current_device", lambda: 0)
        patch.setattr(torch.cuda, "get_device_properties", lambda *_: device)
        yield
