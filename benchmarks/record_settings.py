"""What contends in kernels_at_record.py: kernel files, shapes and the settings of each."""

from __future__ import annotations

from typing import Any

ROWS = [(8192, 4096), (16384, 8192), (4096, 16384)]
_WIDTHS = [(4096, 8), (4096, 16), (8192, 8), (8192, 16), (8192, 32), (16384, 16), (16384, 32)]


def _chunked(variant: str, cols: int, rows: tuple[int, ...] = (1,)) -> list[dict[str, Any]]:
    return [
        {"VARIANT": variant, "BLOCK_COLS": wide, "BLOCK_ROWS": high, "num_warps": warps, "num_stages": 1, "STREAM": out}
        for high in rows for wide, warps in _WIDTHS for out in (False, True)
        if wide <= cols and high * wide <= 1024 * warps
    ]  # fmt: skip


def _whole(cols: int) -> list[dict[str, Any]]:
    """Return settings that hold rows in registers, 16 or 32 elements a thread."""
    return [
        {"VARIANT": "single_pass", "BLOCK_ROWS": rows, "num_warps": warps}
        for rows in (1, 2) for warps in (4, 8, 16, 32) if 512 * warps <= rows * cols <= 1024 * warps
    ]  # fmt: skip


def _with(configs: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    return [{**one, **more} for one in configs]


_TILES = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8}
_PRODUCTS = [{**_TILES, "VARIANT": "persistent", "HALVES": True, "num_stages": 4, "GROUP_M": one} for one in (4, 8, 16)]
_PRODUCTS += [{**_TILES, "VARIANT": "roles", "num_stages": 4, "GROUP_M": one} for one in (2, 4, 8, 16)]
_THIN = [
    {"VARIANT": kind, "BLOCK_M": 16, "BLOCK_N": n, "BLOCK_K": k, "num_warps": 4, "num_stages": s, "GROUP_M": 1}
    for kind in ("pointers", "descriptors")
    for n, k, s in [(64, 128, 5), (64, 256, 4), (32, 256, 5), (32, 256, 6), (64, 128, 6), (128, 128, 4)]
]
_QUERIES = [{"VARIANT": "rows", "BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 3}]
_QUERIES += [
    {"VARIANT": "roles", "TOGETHER": together, "TURNS": turns, "num_stages": 2}
    for together, turns in [(2, True), (4, True), (4, False), (8, True)]
]
_BLOCKS = [
    {"VARIANT": "roles", "BLOCK_N": n, "num_stages": stages, "GROUP_M": group}
    for n, stages in [(256, 4), (128, 6)] for group in (4, 8, 16)
]  # fmt: skip
_FEW = [
    {"VARIANT": "pointers", "BLOCK_M": 16, "BLOCK_N": n, "num_warps": warps, "num_stages": stages, "GROUP_M": 1}
    for n, warps, stages in [
        (16, 1, 8), (16, 2, 8), (16, 4, 8), (32, 1, 6), (32, 2, 6), (32, 2, 8), (32, 4, 6), (32, 4, 8), (64, 4, 6),
        (64, 4, 8),
    ]
]  # fmt: skip
_LOW = [
    {"VARIANT": "roles", "BLOCK_N": n, "num_stages": stages, "GROUP_M": 1} for n, stages in [(64, 8), (64, 6), (128, 6)]
] + [
    {"VARIANT": "pointers", "BLOCK_M": high, "BLOCK_N": n, "num_warps": 4, "num_stages": stages, "GROUP_M": 1}
    for high, n, stages in [(128, 32, 5), (128, 64, 4), (64, 64, 5), (64, 128, 4)]
]  # fmt: skip
CASES: list[tuple[str, tuple[int, ...], list[dict[str, Any]]]] = [
    *(("attention", shape, _QUERIES) for shape in [(4, 32, 4096, 128), (1, 32, 16384, 128)]),
    *(("layer_norm", shape, [
        *_whole(shape[1]), *_chunked("two_pass", shape[1]), *_chunked("three_pass", shape[1]),
    ]) for shape in reversed(ROWS)),
    ("matmul", (16, 8192, 8192), _THIN),
    *(("matmul", shape, _PRODUCTS) for shape in [(4096, 4096, 4096), (8192, 8192, 8192), (2048, 14336, 4096)]),
    *(("rms_norm", shape, [*_whole(shape[1]), *_chunked("two_pass", shape[1], (1, 2))]) for shape in ROWS),
    *(("softmax", shape, [
        *_with(_whole(shape[1]), RECIPROCAL=True), *_with(_whole(shape[1]), RECIPROCAL=True, STREAM_STORES=True),
        *_with(_whole(shape[1]), RECIPROCAL=True, POWERS=True),
        *_with(_whole(shape[1]), RECIPROCAL=True, POWERS=True, STREAM_STORES=True),
        *_with(_chunked("online", shape[1]), POWERS=True),
    ]) for shape in ROWS),
    *(("cross_entropy", shape, [
        {"VARIANT": kind, "BLOCK": block, "POWERS": powers, "num_warps": warps, "num_stages": 1}
        for kind, block, warps, powers in [
            ("lanes", 8192, 16, True), ("lanes", 4096, 8, True), ("lanes", 4096, 8, False), ("rows", 8192, 8, True),
            ("parts", 4096, 8, True), ("parts", 8192, 8, True), ("parts", 8192, 16, True), ("parts", 8192, 16, False),
            ("parts", 16384, 16, True), ("parts", 16384, 32, True),
        ]
    ]) for shape in [(8192, 32000), (4096, 128256)]),
    *(("fp8_gemm", shape, _BLOCKS) for shape in [
        (4096, 4096, 4096), (8192, 8192, 8192), (4096, 24576, 1536), (4096, 7168, 16384)
    ]),
    ("fp8_gemm", (128, 7168, 16384), _LOW),
    ("fp8_gemm", (16, 8192, 8192), _FEW),
    ("swiglu", (8192, 14336), [
        {"BLOCK": b, "POWERS": powers, "num_warps": w} for powers in (True, False) for b, w in [
            (512, 4), (1024, 4), (1024, 8), (2048, 8), (2048, 16)
        ]
    ]),
]  # fmt: skip
"""Kernel file, shape and the settings that contend, the most wanted first."""
