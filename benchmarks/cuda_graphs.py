"""Capture, replay and judge three torch callables as CUDA graphs on a GPU, and one that can't be captured.

    python benchmarks/cuda_graphs.py --out DIR [--budget-s 240]

Each callable runs in a process of its own, by the script that `kb graph write` makes; `DIR/<name>/result.json` is
written as each ends, `DIR/summary.json` at last. Expected: `small_steps` (20 launches on small tensors) is kept,
`one_product` hardly gains or is reverted, `host_branch` is reverted because its capture fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from kopt_kb.cli.main import main as kb

SOURCE = """
import torch

def make_inputs(seed):
    draw = torch.Generator().manual_seed(seed)
    return (torch.randn(SIDE, SIDE, generator=draw),)

def small_steps(x):
    for _ in range(10):
        x = torch.relu(x) + 0.5
    return x

def one_product(x):
    return x @ x

def attention(x):
    return torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])

def host_branch(x):
    return x * 2 if x.sum().item() > 0 else x
"""
CASES = {"small_steps": 64, "attention": 256, "one_product": 4096, "host_branch": 64}


def main() -> int:
    """Run all cases within the budget; return 3 where there is no GPU."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-s", type=float, default=240.0)
    options = parser.parse_args()
    ends_at = time.monotonic() + options.budget_s
    found: dict[str, object] = {}
    for name, side in CASES.items():
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        model, script = folder / "model.py", folder / "graph.py"
        model.write_text(SOURCE.replace("SIDE", str(side)), encoding="utf-8")
        script.unlink(missing_ok=True)
        kb(["graph", "write", str(model), "--function", name, "--out", str(script)])
        left_s = max(10.0, (ends_at - time.monotonic()) / 2)
        done = subprocess.run(
            [sys.executable, str(script), "--out", str(folder), "--budget-s", str(left_s)], check=False
        )
        result = folder / "result.json"
        found[name] = {"exit": done.returncode, **(json.loads(result.read_text()) if result.is_file() else {})}
        (options.out / "summary.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        if done.returncode == 3:
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
