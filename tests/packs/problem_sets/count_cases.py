"""The table that compares closed forms with counts of torch functions: one row a case, with its verdict."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Verdict = Literal["equal", "closed form is less", "not countable"]


class Case(NamedTuple):
    """One row: an operation on a shape, and what the torch count of its FLOPs must be beside the closed form."""

    op: str
    shape: tuple[int, ...]
    dtype: str
    options: dict[str, Any]
    verdict: Verdict


def _rows(op: str, shapes: list[tuple[int, ...]], verdict: Verdict = "equal", **options: Any) -> list[Case]:
    dtypes = ("bf16", "fp32")
    return [Case(op, shape, dtypes[place % 2], options, verdict) for place, shape in enumerate(shapes)]


_ROW_SHAPES = [(1, 1), (7, 33), (8192, 4096), (5, 1000), (77, 1001), (16384, 8192)]

CASES: list[Case] = [
    *_rows("rms_norm", _ROW_SHAPES, weight=True),
    *_rows("rms_norm", [(3, 65), (4096, 16384)], weight=False),
    *_rows("layer_norm", _ROW_SHAPES, weight=True, bias=True),
    *_rows("layer_norm", [(3, 65), (130, 17)], weight=True, bias=False),
    *_rows("layer_norm", [(3, 65), (130, 17)], weight=False, bias=False),
    *_rows("softmax", _ROW_SHAPES),
    *_rows("swiglu", [(7, 33), (4096, 11008), (1, 1)]),
    *_rows("elementwise", [(1_000_003,), (33, 17), (2, 3, 5, 7), (1,)]),
    *_rows("reduction", [(7, 33), (4096, 4097), (1, 1)], axis=-1),
    *_rows("reduction", [(7, 33), (9, 2, 5)], axis=0, kind="mean"),
    *_rows("reduction", [(7, 33), (9, 2, 5)], all=True, kind="max"),
    *_rows("gemm", [(1000, 1104, 520), (8192, 8192, 8192), (1, 1, 1), (127, 65, 33)]),
    *_rows("gemm", [(33, 65, 17), (128, 128, 64)], batch=3),
    *_rows("attention", [(4, 1, 1000, 64), (1, 2, 33, 24), (1, 64, 1024, 128)], causal=True),
    *_rows("attention", [(2, 4, 65, 32), (1, 1, 1, 8), (1, 16, 2048, 64)], causal=False),
    *_rows("attention", [(2, 4, 65, 32), (1, 8, 1, 64)], causal=False, kv_heads=2, kv_length=80),
    *_rows("grouped_gemm", [(200, 64, 32)], groups=(128, 64, 8)),
    *_rows("grouped_gemm", [(64, 33, 17)], groups=(64, 0)),
    # torch computes the logarithm of every class and picks afterwards: 4V-2 a row, not 3V.
    *_rows("cross_entropy", [(5, 33), (128, 32000), (1, 2)], "closed form is less", reduction="mean"),
    *_rows("cross_entropy", [(5, 33), (77, 1001)], "closed form is less", reduction="none"),
    # cumsum has no formula: a scan's additions depend on the algorithm.
    *_rows("elementwise", [(33, 17)], "not countable", inputs=1, flops_per_element=0),
]
