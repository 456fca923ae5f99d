"""FLOPs of the layers and losses that torch has as one operation: normalisation, pooling, activations, running sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch

from kopt_kb.packs.problem_sets.torch_op import OpFlops, OpFormula, each, first, vector

__all__ = ["LAYERS"]


def _variance(args: Sequence[Any], out: Any) -> OpFlops:
    """A mean, differences, squares and their sum: 4 an element; a division a result."""
    return vector(args[0], 4 * args[0].numel() + first(out).numel())


def _norm(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    """Squares, their sum and a root a result; other orders are powers."""
    order = args[1] if len(args) > 1 and args[1] is not None else 2
    elements, results = args[0].numel(), out.numel()
    if order in (1, float("inf"), float("-inf")):
        return vector(args[0], elements - results)
    return vector(args[0], 2 * elements - results, sqrt=results)


def _logsumexp(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    elements, rows = args[0].numel(), out.numel()
    return vector(args[0], 2 * (elements - rows) + elements + rows, exp=elements, log=rows)


def _running(args: Sequence[Any], out: Any) -> OpFlops:
    """A running sum, product or extreme of each row: one operation an element but the first."""
    tensor = first(out)
    axis = args[1] if len(args) > 1 and isinstance(args[1], int) else -1
    rows = tensor.numel() // tensor.shape[axis] if tensor.ndim else 1
    return vector(args[0], tensor.numel() - rows)


def _window(args: Sequence[Any], out: Any, *, ends: int) -> OpFlops:
    """Pooling: the elements of each window combined, and so many operations at the end."""
    tensor, size = first(out), args[1]
    ranks = args[0].ndim - 2
    kernel = prod(size) if len(size) == ranks else size[0] ** ranks
    return vector(tensor, tensor.numel() * (kernel - 1 + ends))


def _max_pool(args: Sequence[Any], out: Any) -> OpFlops:
    return _window(args, out, ends=0)


def _mean_pool(args: Sequence[Any], out: Any) -> OpFlops:
    return _window(args, out, ends=1)


def _adaptive_mean(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    """Each element added once, each result divided once; exact where the windows don't overlap."""
    return vector(out, args[0].numel())


def _batch_norm(args: Sequence[Any], _out: Any) -> OpFlops:
    """Statistics (4 an element), then one subtraction and up to three more operations an element."""
    x, weight, bias = args[:3]
    affine = (weight is not None) + (bias is not None)
    channels = x.shape[1] if x.ndim > 1 else x.shape[0]
    return vector(x, (6 + affine) * x.numel() + channels, rsqrt=channels)


def _running_batch_norm(args: Sequence[Any], out: Any) -> OpFlops:
    """In training statistics are taken, else the running ones are used: two operations and the affine ones."""
    x, weight, bias = args[:3]
    if len(args) > 5 and args[5] is True:
        return _batch_norm(args, out)
    affine = (weight is not None) + (bias is not None)
    return vector(x, (2 + affine) * x.numel(), rsqrt=x.shape[1])


def _group_norm(args: Sequence[Any], _out: Any) -> OpFlops:
    x, weight, bias, batch, _channels, _area, groups = args[:7]
    affine = (weight is not None) + (bias is not None)
    return vector(x, (6 + affine) * x.numel() + batch * groups, rsqrt=batch * groups)


def _scatter_add(args: Sequence[Any], _out: Any) -> OpFlops:
    source = next((one for one in reversed(args) if isinstance(one, torch.Tensor)), args[0])
    return vector(source, source.numel())


def _in_and_out(flops: int, **special: int) -> OpFormula:
    """As `each`, of the gradient or input that comes first."""

    def formula(args: Sequence[Any], _out: Any) -> OpFlops:
        elements = args[0].numel()
        return vector(args[0], flops * elements, **{name: value * elements for name, value in special.items()})

    return formula


def _gelu(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    """0.5 x (1 + erf(x/sqrt 2)): 4 and an erf. By tanh of sqrt(2/pi) (x + 0.044715 x^3): 8 and a tanh."""
    del args
    return vector(out, 4 * out.numel(), erf=out.numel())


def _loss(args: Sequence[Any], out: torch.Tensor) -> OpFlops:
    """A difference and a square or magnitude an element, then their mean."""
    return vector(args[0], 3 * args[0].numel() if out.numel() == 1 else 2 * args[0].numel())


LAYERS: Mapping[str, OpFormula] = {
    "hardtanh": each(2),
    "leaky_relu": each(2),
    "threshold": each(1),
    "hardsigmoid": each(4),
    "hardswish": each(5),
    "elu": each(2, exp=1),
    "celu": each(3, exp=1),
    "softplus": each(1, exp=1, log=1),
    "log_sigmoid_forward": each(2, exp=1, log=1),
    "mish": each(3, exp=1, log=1, tanh=1),
    "softshrink": each(2),
    "hardshrink": each(1),
    "gelu": _gelu,
    "gelu_backward": _in_and_out(8, erf=1, exp=1),
    "silu_backward": _in_and_out(6, exp=1),
    "threshold_backward": _in_and_out(1),
    "addcmul": each(2),
    "addcdiv": each(2),
    "var": _variance,
    "var_mean": _variance,
    "std": _variance,
    "std_mean": _variance,
    "linalg_vector_norm": _norm,
    "norm": _norm,
    "logsumexp": _logsumexp,
    "cumsum": _running,
    "cumprod": _running,
    "cummax": _running,
    "cummin": _running,
    "max_pool2d_with_indices": _max_pool,
    "max_pool3d_with_indices": _max_pool,
    "avg_pool2d": _mean_pool,
    "avg_pool3d": _mean_pool,
    "_adaptive_avg_pool2d": _adaptive_mean,
    "_adaptive_avg_pool3d": _adaptive_mean,
    "native_batch_norm": _running_batch_norm,
    "_native_batch_norm_legit": _running_batch_norm,
    "native_group_norm": _group_norm,
    "scatter_add": _scatter_add,
    "index_add": _scatter_add,
    "histc": _in_and_out(1),
    "bincount": _in_and_out(1),
    "mse_loss": _loss,
    "l1_loss": _loss,
}
"""Name of an aten operation, without the underscore of its in-place form, to its formula."""
