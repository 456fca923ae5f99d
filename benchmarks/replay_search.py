"""How long a search of a tuning space by replayed records takes: compiled side by side, checked, timed, timed again.

Usage: python benchmarks/replay_search.py --out DIR [--op gemm] [--shape 4096x4096x4096] [--budget-s 60]

The whole of a space of about 300 configurations of a packaged kernel. search_OP.json in DIR holds the seconds that
makers and judges took, and the best.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kopt_kb.base.errors import MissingTool  # noqa: E402
from kopt_kb.launch.candidate.job import Request, SpaceAsked  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.judge.search import SearchTools, search_shape  # noqa: E402
from kopt_kb.launch.judge.shelf import RecordTarget, Shelf  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

SPACES: dict[str, dict[str, list[object]]] = {
    "gemm": {
        "BLOCK_M": [64, 128, 256], "BLOCK_N": [64, 128, 256], "BLOCK_K": [32, 64], "GROUP_M": [1, 8],
        "num_warps": [4, 8], "num_stages": [2, 3, 4, 5],
    },
    "softmax": {
        "VARIANT": ["single_pass", "persistent"], "BLOCK_ROWS": [1, 2, 4, 8], "num_warps": [1, 2, 4, 8, 16],
        "num_stages": [1, 2, 3, 4], "RECIPROCAL": [False, True],
    },
}  # fmt: skip
STARTS: dict[str, dict[str, object]] = {
    "gemm": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 3},
    "softmax": {"VARIANT": "single_pass", "BLOCK_ROWS": 1, "num_warps": 4, "num_stages": 1, "RECIPROCAL": False},
}
"""Spaces of 288 and 320 configurations, and where a search begins."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--op", default="gemm", choices=sorted(SPACES))
    parser.add_argument("--shape", default="4096x4096x4096")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--budget-s", type=float, default=60.0)
    parser.add_argument("--platform", default="")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    judging = DeviceJudging()
    try:
        machine = judging.machine()
    except MissingTool as error:
        print(error)
        return int(error.exit_code)
    platform = args.platform or ("H200_SXM" if "H200" in machine.name else "H100_SXM")
    found = Registry.open().platform(platform)
    path = packaged_file(args.op)
    assert path is not None
    failed: list[str] = []
    spent: dict[str, float] = {}

    def took(what: str, seconds: float) -> None:
        spent[what] = round(spent.get(what, 0.0) + seconds, 3)

    with Makers() as makers, tempfile.TemporaryDirectory(prefix="kb-search-") as folder:
        makers.warm()
        time.sleep(8.0)  # torch and triton are imported once a loop, not once a search
        shelf = Shelf(
            Path(folder), makers, RecordTarget(found.identity.target, platform, device_facts(found)), most=1000
        )
        tools = SearchTools(path.read_bytes(), path, shelf, judging, failed.append, took)
        space = SpaceAsked(STARTS[args.op], SPACES[args.op], None)
        body = Request(
            shapes=(args.shape,), dtype=args.dtype, seeds=(1,), samples=24, repeats=3, threshold_pct=0.5,
            evaluations=400, seconds=args.budget_s, seed=1, spaces={args.shape: space},
        )  # fmt: skip
        begin = time.monotonic()
        best = search_shape(args.shape, space, body, tools, begin + args.budget_s)
        seconds = time.monotonic() - begin
        judged = {kind: round(value, 3) for kind, value in judging.spent_s.items()}
        judging.close()
    result = {
        "device": machine.name, "driver": machine.driver, "cores": len(os.sched_getaffinity(0)), "op": args.op,
        "shape": args.shape, "dtype": args.dtype, "seconds": round(seconds, 3), "evaluated": best.evaluated,
        "failed": best.failed, "space": best.space, "strategy": best.strategy, "best": dict(best.config),
        "best_us": None if best.median_s is None else round(best.median_s * 1e6, 2),
        "makers": makers.count, "spent_s": spent, "judge_s": judged, "why": failed[:20],
    }  # fmt: skip
    (args.out / f"search_{args.op}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    rate = best.evaluated / seconds
    print(f"{best.evaluated} configurations in {seconds:.1f} s: {rate:.1f} a second; aim 300 in 30 s")
    return 0 if math.isfinite(rate) else 1


if __name__ == "__main__":
    sys.exit(main())
