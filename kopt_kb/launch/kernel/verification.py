"""A candidate's run into poisoned memory, and shape and storage type of the result that it has to leave there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from kopt_kb.launch.kernel.blocked import reference_result, result_shape
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.ops import OPS, definition
from kopt_kb.problem.shapes import Shape

__all__ = ["output_dtype", "output_shape", "produce"]


def produce(
    run: Callable[..., Any],
    inputs: tuple[Any, ...],
    out_shape: tuple[int, ...] | None,
    config: Mapping[str, object] | None = None,
    op: str = "",
) -> tuple[Any, str]:
    """Return what a launcher wrote into an output filled with NaN, and what was wrong about the call.

    Args:
        run: A file's `launch`.
        inputs: Its inputs; the output lies on their device.
        out_shape: Shape of the output; None: the launcher has several results and returns its own.
        config: Configuration passed on.
        op: Operation, whose result may have another storage type than the inputs.
    """
    kept = tuple(one.clone() for one in inputs)
    out = None
    if out_shape is not None:
        out = inputs[0].new_full(out_shape, math.nan, dtype=output_dtype(op, inputs))
    result = run(*inputs, config=config, out=out)
    if out is None:
        out = result
    if result is not out:
        return out, "the launcher did not return the output it was given"
    for place, (before, after) in enumerate(zip(kept, inputs, strict=True)):
        if not bool((before == after).all()):
            return out, f"the kernel changed input {place}"
    return out, ""


def output_dtype(op: str, inputs: tuple[Any, ...]) -> Any:
    """Return the torch type of an operation's result: its own, else that of the first input of floats."""
    import torch

    own = format_of(definition(op).result) if op in OPS else None
    if own is not None:
        return getattr(torch, own.torch)
    return next((one.dtype for one in inputs if one.is_floating_point()), inputs[0].dtype)


def output_shape(kernel: ModuleType, shape: Shape, dtype: str, seed: int, device: str) -> tuple[int, ...] | None:
    """Return the shape of the reference's result on a shape of the operation; None where it has several results."""
    inputs = kernel.make_inputs(shape, dtype, device, seed)
    found = result_shape(kernel, inputs)
    if found is not None:
        return found
    result = reference_result(kernel, inputs)
    return None if isinstance(result, tuple) else tuple(result.shape)
