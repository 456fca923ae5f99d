"""Times of reading and counting Triton IR: prints one line a case, fails when the 8192-cubed GEMM misses its bar.

python benchmarks/ttir_count.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kopt_kb.analysis.ir.triton import TensorArg, count_ir, parse_ttir
from kopt_kb.analysis.ir.triton.arguments import KernelArgument

IR = Path(__file__).resolve().parent.parent / "tests" / "data" / "ttir"
BAR_S = 0.010
SIZE = 8192
SQUARE = TensorArg((SIZE, SIZE), "fp16")
GEMM: dict[int | str, KernelArgument] = {
    **dict.fromkeys(range(3), SQUARE),
    **dict.fromkeys(("m", "n", "k", "stride_am", "stride_bk", "stride_cm"), SIZE),
}
SMALL: dict[int | str, KernelArgument] = {
    "m": 1000, "n": 1104, "k": 520, "stride_am": 520, "stride_bk": 1104, "stride_cm": 1104,
}  # fmt: skip
CASES: tuple[tuple[str, str, int | tuple[int, ...], dict[int | str, KernelArgument], Any], ...] = (
    ("gemm 8192^3", "gemm", 4096, GEMM, "shape"),
    ("flash S=16384 BH=64", "flash", (128, 64), {"seq": 16384}, "shape"),
    ("vadd n=1e6", "vadd", 977, {"n": 1_000_003}, "shape"),
    ("vadd n=1e6", "vadd", 977, {"n": 1_000_003}, "exact"),
    ("softmax 512x3000", "softmax", 512, {"cols": 3000}, "exact"),
    ("rmsnorm 512x3000", "rmsnorm", 512, {"cols": 3000}, "exact"),
    ("gemm 1000x1104x520", "gemm", 72, SMALL, "exact"),
    ("flash S=1000 BH=4", "flash", (8, 4), {"seq": 1000}, "exact"),
    ("vadd n=1e9", "vadd", 976_563, {"n": 1_000_000_007}, "exact"),
    ("softmax 65536x3000", "softmax", 65536, {"cols": 3000}, "exact"),
    ("gemm 8192^3", "gemm", 4096, GEMM, "exact"),
    ("flash S=4096 BH=64", "flash", (32, 64), {"seq": 4096}, "exact"),
    ("softmax 512x3000", "softmax", 512, {"cols": 3000}, "every_lane"),
    ("gemm 1000x1104x520", "gemm", 72, SMALL, "every_lane"),
)


def best_s(action: Callable[[], object], repeats: int) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Time every case; 1 when the large GEMM takes longer than its bar."""
    bar_kept = True
    for title, name, grid, args, mode in CASES:
        text = (IR / f"{name}.3.6.0.ttir").read_text()
        module = parse_ttir(text, file=name)
        parse_s = best_s(lambda text=text: parse_ttir(text), 5)  # type: ignore[misc]
        count_s = best_s(lambda m=module, g=grid, a=args, o=mode: count_ir(m, g, a, mode=o), 5)  # type: ignore[misc]
        print(f"{title:22} {mode:10} parse {parse_s * 1e3:7.2f} ms  count {count_s * 1e3:8.2f} ms")
        if mode == "shape" and name == "gemm":
            bar_kept = count_s <= BAR_S
    print(f"8192^3 GEMM within {BAR_S * 1e3:.0f} ms after parsing: {'yes' if bar_kept else 'NO'}")
    return 0 if bar_kept else 1


if __name__ == "__main__":
    sys.exit(main())
