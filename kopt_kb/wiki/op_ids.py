"""The closed list of operations: tags of pages, and names of the closed forms in `kopt_kb/problem/ops/`."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FAMILIES", "OPS"]

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "gates": ("gelu", "geglu", "moe_gate"),
    "norms": ("add_rms_norm", "rms_norm_backward", "layer_norm_backward", "cross_entropy_backward"),
    "positions": ("rope", "transpose", "embedding", "histogram", "scan"),
    "products": ("gemv", "batched_gemm", "gemm_bias_act", "int4_gemm", "fp8_gemm", "conv2d"),
    "sequences": ("attention_decode", "mamba_scan"),
}
"""Module with several closed forms → their ids."""

OPS: tuple[str, ...] = (
    "gemm",
    "elementwise",
    "reduction",
    "softmax",
    "rms_norm",
    "layer_norm",
    "swiglu",
    "cross_entropy",
    "attention",
    "grouped_gemm",
    *(one for names in FAMILIES.values() for one in names),
)
