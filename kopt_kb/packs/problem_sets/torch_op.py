"""What one torch operation computes, and the few ways to say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kopt_kb.problem.dtypes import DTYPES, FORMATS, Engine

__all__ = ["OpFlops", "OpFormula", "each", "first", "storage_name", "vector", "vector_type"]

_NAMES = {getattr(torch, one.torch): one.dtype for one in FORMATS if one.dtype in DTYPES}


@dataclass(frozen=True, slots=True)
class OpFlops:
    """What one operation computes: FLOPs by (dtype, engine) and special functions by (name, dtype)."""

    flops: tuple[tuple[str, Engine, int], ...] = ()
    special: tuple[tuple[str, str, int], ...] = ()


OpFormula = Callable[[Sequence[Any], Any], OpFlops]


def storage_name(dtype: torch.dtype) -> str:
    """Return the project's name of a torch dtype; integers other than int8 are "int32"."""
    return _NAMES.get(dtype, "int32")


def vector_type(tensor: torch.Tensor) -> str:
    """Return the type that the vector engine computes a tensor in."""
    if not tensor.dtype.is_floating_point:
        return "int32"
    return "fp64" if tensor.dtype == torch.float64 else "fp32"


def vector(tensor: torch.Tensor, flops: int, **special: int) -> OpFlops:
    """Return so many operations on the vector engine, and special functions by name."""
    compute = vector_type(tensor)
    counted: tuple[tuple[str, Engine, int], ...] = ((compute, "vector", flops),) if flops else ()
    return OpFlops(counted, tuple((function, compute, value) for function, value in special.items()))


def first(out: Any) -> torch.Tensor:
    """Return a result, the first of several."""
    return out[0] if isinstance(out, tuple | list) else out


def each(flops: int, **special: int) -> OpFormula:
    """Return the formula of so many operations an element of the result."""

    def formula(_args: Sequence[Any], out: Any) -> OpFlops:
        tensor = first(out)
        if not isinstance(tensor, torch.Tensor):  # a number that was read
            return OpFlops()
        return vector(tensor, flops * tensor.numel(), **{k: v * tensor.numel() for k, v in special.items()})

    return formula
