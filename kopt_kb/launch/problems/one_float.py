"""One floating type for all of a function: its casts, factories and keywords name that type.

A published reference casts to fp32, multiplies, and casts back. Run in float64 it is the exact answer that results are
held against; run in the storage type its products count as what the matrix engine would be given.
"""

# mypy: allow-subclassing-any
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

__all__ = ["WIDE", "in_one_float", "with_floats"]

WIDE = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})
"""Types that become the one; narrower ones hold values that a problem quantised on purpose."""

_CASTS = frozenset({"float", "half", "bfloat16", "double"})


class _OneFloat(TorchFunctionMode):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self._dtype = dtype

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _CASTS and args and isinstance(args[0], torch.Tensor):
            return args[0].to(self._dtype)
        given, named = tree_map_only(torch.dtype, self._one, (args, kwargs or {}))
        return func(*given, **named)

    def _one(self, dtype: torch.dtype) -> torch.dtype:
        return self._dtype if dtype in WIDE else dtype


def with_floats(tensors: Sequence[Any], dtype: torch.dtype) -> tuple[Any, ...]:
    """Return tensors with those of a wide floating type in this one; all else as it is."""
    return tuple(one.to(dtype) if isinstance(one, torch.Tensor) and one.dtype in WIDE else one for one in tensors)


@contextmanager
def in_one_float(dtype: torch.dtype) -> Iterator[None]:
    """Every floating type of 16 bits or more that is named inside is this one, and so is the default."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with _OneFloat(dtype):
            yield
    finally:
        torch.set_default_dtype(before)
