"""What the name of a kernel says where no operator does: its category, library, tile and type."""

from __future__ import annotations

import re
from typing import Literal

from kopt_kb.analysis.profile.names import function_name, role_of

__all__ = ["CATEGORIES", "KernelCategory", "category_of", "told_by_name"]

KernelCategory = Literal["products", "attention", "norms", "elementwise", "communication", "copies", "rest"]
CATEGORIES: tuple[KernelCategory, ...] = (
    "products", "attention", "norms", "elementwise", "communication", "copies", "rest"
)  # fmt: skip
_PATTERNS: tuple[tuple[KernelCategory, str], ...] = (
    ("attention", r"flash|fmha|attn|attention|_mla_|paged_kv"),
    (
        "products",
        r"gemm|gemv|^Cijk_|nvjet|conv|wgrad|dgrad|winograd|im2d?2?col|splitk|_mm_|xmma|^_?matmul|^bmm_|grouped_mm",
    ),
    ("communication", r"all_?reduce_kernel|all_?gather_kernel|cross_device_reduce"),
    ("norms", r"norm|softmax|reduce|welford"),
    ("copies", r"memcpy|copy|cat|gather|index|embedding|transpose|permute|nchw|nhwc|scatter"),
    ("elementwise", r"elementwise|multi_tensor|triton_poi|_and_mul|rotary|dropout|adam|fill"),
    ("norms", r"triton_(red|per)"),
)
_BY_NAME = tuple((category, re.compile(pattern, re.IGNORECASE)) for category, pattern in _PATTERNS)
_LIBRARIES = tuple(
    (library, re.compile(pattern))
    for library, pattern in (
        ("hipBLASLt or rocBLAS", r"^Cijk_"),
        ("flash attention", r"flash_(fwd|bwd)|fmha|attn_fwd"),
        ("cuBLAS", r"nvjet|xmma_gemm|(ampere|volta|turing|maxwell|sm\d+)_\w*gemm|gemv2|cublas|splitKreduce"),
        ("cuDNN", r"cudnn|xmma_(fprop|dgrad|wgrad)"),
        ("CUTLASS", r"cutlass"),
        ("NCCL or RCCL", r"nccl|rccl"),
        ("Inductor", r"^triton_(poi|red|per|tem|for)_"),
        ("Composable Kernel", r"ck_tile|N2ck"),
        ("PyTorch", r"at::native|at_cuda_detail"),
    )
)
_TILE = re.compile(
    r"MT(\d+x\d+x\d+)|tilesize(\d+x\d+x\d+)|(?<![\dx])(\d{2,3}x\d{2,3}_\d{2,3}x\d)|(?<=_)(\d{2,3}x\d{2,3}(?:x\d{2,3})?)(?=_)"
)
_TYPE = re.compile(r"(bf16|BFloat16|BBS)|(fp16|f16|half|Half|HHS|h884|h1688|h16816)|(tf32)|(e4m3|e5m2|fp8)", re.ASCII)
_TYPES = ("bf16", "fp16", "tf32", "fp8")


def category_of(kernel: str) -> KernelCategory:
    """Return the category that a kernel's name tells, `rest` where it tells none."""
    if role_of(function_name(kernel)) == "communication":
        return "communication"
    return next((category for category, pattern in _BY_NAME if pattern.search(kernel)), "rest")


def told_by_name(kernel: str) -> str:
    """Return library, tile and type that a kernel's name says, `cuBLAS, tile 128x128x64, bf16`; empty: none."""
    library = next((library for library, pattern in _LIBRARIES if pattern.search(kernel)), "")
    if not library or library in {"PyTorch", "Inductor"}:
        return library
    tile, dtype = _TILE.search(kernel), _TYPE.search(kernel)
    parts = [library]
    if tile is not None:
        parts.append(f"tile {next(filter(None, tile.groups()))}")
    if dtype is not None:
        parts.append(_TYPES[next(at for at, one in enumerate(dtype.groups()) if one)])
    return ", ".join(parts)
