"""Count the shipped kernels from their IR; run as a script it prints what tests/data/counts.json holds.

python tests/data/make_counts.py > tests/data/counts.json    (with triton 3.6, whose counts are the recorded ones)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kopt_kb.launch.compile import CompilePool, OpCase
from kopt_kb.launch.counts.counting import CountedKernel, count_case

ROOT = Path(__file__).resolve().parents[2]

CASES: dict[str, tuple[tuple[int, ...], str]] = {
    "attention": ((1, 2, 200, 64), "bf16"),
    "cross_entropy": ((33, 1000), "bf16"),
    "elementwise": ((1003,), "fp32"),
    "layer_norm": ((64, 1000), "fp16"),
    "matmul": ((100, 70, 50), "bf16"),
    "naive/matmul": ((17, 20, 33), "bf16"),
    "naive/rms_norm": ((7, 33), "bf16"),
    "naive/softmax": ((7, 33), "fp32"),
    "reduction": ((64, 1000), "fp32"),
    "rms_norm": ((64, 1000), "bf16"),
    "softmax": ((64, 1000), "bf16"),
    "swiglu": ((17, 33), "bf16"),
}
"""Shape and dtype of each kernel file."""


def counted(name: str, pool: CompilePool, target: str = "sm_90") -> tuple[CountedKernel, ...]:
    """The counts of all launches of one file."""
    shape, dtype = CASES[name]
    case = OpCase(str(ROOT / "kernels" / f"{name}.py"), shape, dtype)
    return count_case(case, target, mode="exact", pool=pool)


def numbers(found: tuple[CountedKernel, ...]) -> list[dict[str, Any]]:
    """What is recorded of the launches: operations by kind, and bytes."""
    return [
        {
            "name": one.compilation.name,
            "useful": {f"{part.dtype} {part.engine}": part.amount.value for part in one.kernel.useful},
            "executed": {f"{part.dtype} {part.engine}": part.amount.value for part in one.kernel.executed},
            "special": {part.function: part.useful.value for part in one.kernel.special},
            "requested": [one.kernel.read.requested.value, one.kernel.written.requested.value],
            "compulsory": [one.kernel.read.compulsory.value, one.kernel.written.compulsory.value],
        }
        for one in found
    ]


if __name__ == "__main__":
    with CompilePool() as workers:
        print(json.dumps({name: numbers(counted(name, workers)) for name in CASES}, indent=1))  # noqa: T201
