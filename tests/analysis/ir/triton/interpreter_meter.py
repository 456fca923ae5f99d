"""Counts what triton's interpreter does: an independent witness for the IR counter.

Run as a script with TRITON_INTERPRET=1 in the environment (triton decides when it is imported); prints one JSON
object, a set of totals for each case.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter

KERNELS = Path(__file__).resolve().parents[3] / "data" / "kernels_for_ir.py"
FLOPS = ("create_fadd", "create_fsub", "create_fmul", "create_fdiv", "create_maxnumf", "create_minnumf")
SPECIAL = ("create_exp", "create_exp2", "create_rsqrt")

TOTALS: Counter[str] = Counter()
SEEN: dict[str, set[int]] = {"read": set(), "written": set()}


def _access(original: Any, direction: str, mask_at: int) -> Any:
    def access(builder: Any, *operands: Any, **options: Any) -> Any:
        pointers, mask = operands[0], operands[mask_at]
        lit = np.broadcast_to(getattr(mask, "data", mask), pointers.data.shape)
        addresses = pointers.data[lit.astype(bool)]
        size = pointers.get_element_ty().primitive_bitwidth // 8
        TOTALS[direction] += addresses.size * size
        for byte in range(size):
            SEEN[direction].update((addresses.ravel() + np.uint64(byte)).tolist())
        return original(builder, *operands, **options)

    return access


def _dot(original: Any) -> Any:
    def dot(builder: Any, a: Any, b: Any, *rest: Any) -> Any:
        TOTALS["matrix"] += 2 * a.data.size * b.data.shape[-1]
        return original(builder, a, b, *rest)

    return dot


def _lanes(original: Any, kind: str) -> Any:
    def lanes(builder: Any, *operands: Any) -> Any:
        result = original(builder, *operands)
        TOTALS[kind] += result.data.size
        return result

    return lanes


def _reduce(original: Any) -> Any:
    def reduce(reducer: Any, source: Any, *rest: Any, **options: Any) -> Any:
        result = original(reducer, source, *rest, **options)
        tensor = source[0] if isinstance(source, tuple) else source
        TOTALS["vector"] += tensor.handle.data.size - np.size(result.handle.data)
        return result

    return reduce


def patch() -> None:
    """Make the interpreter count."""
    builder, reduce = interpreter.InterpreterBuilder, interpreter.ReduceOps
    builder.create_masked_load = _access(builder.create_masked_load, "read", 1)
    builder.create_masked_store = _access(builder.create_masked_store, "written", 2)
    builder.create_dot = _dot(builder.create_dot)
    for name in FLOPS:
        setattr(builder, name, _lanes(getattr(builder, name), "vector"))
    for name in SPECIAL:
        setattr(builder, name, _lanes(getattr(builder, name), "special"))
    for name in ("sum", "min_max"):
        setattr(reduce, name, _reduce(getattr(reduce, name)))


def _gemm(kernels: Any, name: str, grid: int) -> Any:
    m, n, k = 200, 136, 72
    a, b, c = (torch.ones(shape).half() for shape in ((m, k), (k, n), (m, n)))
    return lambda: getattr(kernels, name)[(grid,)](a, b, c, m, n, k, BM=128, BN=128, BK=64)


def cases(kernels: Any) -> dict[str, Any]:
    """One launch for each case, small and with odd sizes."""
    x = torch.ones(1000)
    long, rows, half = torch.ones(5003), torch.ones(70, 100), torch.ones(3, 700).half()
    q = [torch.ones(2, 200, 64).half() for _ in range(4)]
    y, out = x.clone(), torch.empty(1000)
    return {
        "vadd": lambda: kernels.vadd[(5,)](long, long.clone(), torch.empty(5003), 5003, BLOCK=1024),
        "softmax": lambda: kernels.softmax[(3,)](half, torch.empty_like(half), 700, BLOCK=4096),
        "rmsnorm": lambda: kernels.rmsnorm[(3,)](half, half[0].clone(), half.clone(), 700, 1e-6, BLOCK=4096),
        "flash": lambda: kernels.flash[(2, 2)](*q, 200, 0.125, D=64, BM=128, BN=64),
        "column_sums": lambda: kernels.column_sums[(2,)](rows, torch.empty(100), 70, 100, BM=32, BN=64),
        "while_countable": lambda: kernels.while_countable[(3,)](x, out, 1000, BLOCK=256),
        "select_pointer": lambda: kernels.select_pointer[(4,)](x, y, out, 1000, 2, BLOCK=256),
        **{
            name: _gemm(kernels, name, 3 if name == "gemm_persistent" else 4)
            for name in ("gemm_wrapped", "gemm_desc", "gemm_block_pointers", "gemm_persistent")
        },
    }


def main() -> None:
    """Run every case and print its totals."""
    spec = importlib.util.spec_from_file_location("kernels_for_ir", KERNELS)
    kernels = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules["kernels_for_ir"] = kernels
    spec.loader.exec_module(kernels)  # type: ignore[union-attr]
    patch()
    found = {}
    for name, launch in cases(kernels).items():
        TOTALS.clear()
        SEEN.update(read=set(), written=set())
        launch()
        found[name] = {**TOTALS, "read_distinct": len(SEEN["read"]), "written_distinct": len(SEEN["written"])}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
