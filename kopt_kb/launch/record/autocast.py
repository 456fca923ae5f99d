"""`torch.autocast("cuda")` for tensors without memory: operands are cast here, since torch's own cast asks the device.

The operations are those of torch's documentation, "Automatic Mixed Precision package", CUDA op-specific behavior.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._pytree import tree_map

__all__ = ["autocast_off", "cast_operands"]

_LOWER = frozenset(
    {
        "__matmul__", "__rmatmul__", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "conv1d",
        "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "einsum", "linear", "matmul",
        "mm", "multi_dot", "mv", "prelu", "scaled_dot_product_attention",
    }
)  # fmt: skip
"""Operations done in autocast's type."""

_WHOLE = frozenset(
    {
        "__pow__", "__rpow__", "acos", "asin", "binary_cross_entropy_with_logits", "cosh", "cosine_embedding_loss",
        "cosine_similarity", "cross_entropy", "cumprod", "cumsum", "dist", "erfinv", "exp", "expm1", "group_norm",
        "hinge_embedding_loss", "kl_div", "l1_loss", "layer_norm", "log", "log10", "log1p", "log2", "log_softmax",
        "margin_ranking_loss", "mse_loss", "nll_loss", "norm", "normalize", "pdist", "poisson_nll_loss", "pow", "prod",
        "reciprocal", "rsqrt", "sinh", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "sum",
        "tan", "triplet_margin_loss",
    }
)  # fmt: skip
"""Operations done in fp32."""


def autocast_off() -> AbstractContextManager[object]:
    """Return what keeps torch's own casts out while it is entered; nothing outside of autocast."""
    return torch._C._DisableAutocast() if torch.is_autocast_enabled("cuda") else nullcontext()


def cast_operands(func: Any, args: Any, given: Any) -> tuple[Any, Any]:
    """Return arguments as autocast on CUDA hands them on: floating tensors in its type, in fp32, or as they are."""
    if not torch.is_autocast_enabled("cuda"):
        return args, given
    name = getattr(func, "__name__", "")
    wanted = torch.get_autocast_dtype("cuda") if name in _LOWER else torch.float32 if name in _WHOLE else None
    if wanted is None:
        return args, given

    def cast(one: Any) -> Any:
        fits = isinstance(one, torch.Tensor) and one.dtype.is_floating_point and one.device.type == "cuda"
        if not fits or one.dtype in {wanted, torch.float64}:
            return one
        with autocast_off():
            return torch.ops.aten._to_copy.default(one, dtype=wanted)

    return tree_map(cast, args), tree_map(cast, given)
