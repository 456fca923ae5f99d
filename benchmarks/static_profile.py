"""Time from source to static profile per kernel and target, the pruning rate, and both occupancy oracles.

`python benchmarks/static_profile.py [--quick] [--workers 2]` prints what the bars ask for: at most 1 s a kernel
and target (warm), at least 2 configurations a second. `--json FILE` stores the numbers.
"""

from __future__ import annotations

import argparse
import json
import runpy
import time
from collections import Counter
from pathlib import Path

from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.compile.target import TARGETS
from kopt_kb.launch.counts.pruning import PruneOptions, op_cases, prune
from kopt_kb.launch.counts.static_profile import compile_kernel

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "kernels"
CASES = {
    "elementwise": ((1 << 24,), "fp32", {}),
    "softmax": ((4096, 4096), "bf16", {}),
    "rms_norm": ((4096, 4096), "bf16", {}),
    "matmul": ((4096, 4096, 4096), "fp16", {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8}),
    "attention": ((4, 16, 4096, 128), "bf16", {}),
}
SPACE = {
    "VARIANT": ("pointers", "descriptors"),
    "BLOCK_M": (64, 128, 256),
    "BLOCK_N": (64, 128, 256),
    "BLOCK_K": (32, 64),
    "num_warps": (4, 8),
    "num_stages": (2, 3, 4),
}
BAR_PROFILE_S = 1.0
BAR_PRUNE_PER_S = 2.0


def profile_times(repeats: int) -> dict[str, float]:
    """Return the median seconds from a request to its static profile, by kernel and target."""
    times: dict[str, float] = {}
    with CompilePool(1) as pool:
        for op, (shape, dtype, config) in CASES.items():
            case = OpCase(str(KERNELS / f"{op}.py"), shape, dtype, config)
            for target in TARGETS:
                compile_kernel(case, target, pool=pool)
                taken = []
                for _ in range(repeats):
                    start = time.perf_counter()
                    compile_kernel(case, target, pool=pool)
                    taken.append(time.perf_counter() - start)
                times[f"{op} {target}"] = sorted(taken)[repeats // 2]
    return times


def pruning(quick: bool, workers: int) -> dict[str, dict[str, object]]:
    """Prune a GEMM space for one target of each vendor, without a cache."""
    limits = runpy.run_path(str(ROOT / "tests" / "analysis" / "occupancy_oracles.py"))
    space = SPACE | ({"VARIANT": ("pointers",), "num_stages": (3,)} if quick else {})
    found = {}
    for target, have in {"sm_90": limits["nvidia_limits"]((9, 0)), "gfx942": limits["amd_limits"]("gfx942")}.items():
        case_of = op_cases(KERNELS / "matmul.py", (4096, 4096, 4096), "fp16")
        result = prune(space, case_of, target, have, PruneOptions(workers=workers))
        found[target] = {
            "configurations": result.total,
            "kept": len(result.kept),
            "removed": dict(Counter(one.reason for one in result.removed)),
            "seconds": round(result.seconds_s, 2),
            "per_second": round(result.total / result.seconds_s, 2),
        }
    return found


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="36 configurations instead of 216")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="compile processes while pruning")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    times = profile_times(args.repeats)
    for name, seconds in times.items():
        print(f"{name:24} {seconds:6.3f} s")
    worst = max(times, key=times.__getitem__)
    print(f"worst {times[worst]:.3f} s ({worst}); bar {BAR_PROFILE_S:g} s")
    rates = pruning(args.quick, args.workers)
    for target, found in rates.items():
        print(f"prune {target}: {found}; bar {BAR_PRUNE_PER_S:g} configurations a second")
    if args.json:
        args.json.write_text(json.dumps({"profile_s": times, "prune": rates}, indent=2) + "\n")


if __name__ == "__main__":
    main()
