"""Runs campaigns that judge recorded launches, on a machine with a GPU, and keeps journals and numbers as they come.

Usage: python benchmarks/replay_round.py --out DIR [--platform H100_SXM] [--budget-s 60] [--only plan|norm|gemm]

Three campaigns: the naive RMS norm with one hypothesis and no search (its packaged kernel in two passes); the naive RMS
norm with a small search; the naive matrix product with a search of its packaged kernel's space. Each step is a command
a user would type; results.json in DIR holds what each printed and took, written after every step, and an archive of
each workspace lies beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from kopt_kb.launch.candidate.source_config import with_configs

ROOT = Path(__file__).resolve().parents[1]
NORM, PRODUCT = "8192x4096", "4096x4096x4096"
TWO_PASS = {"VARIANT": "two_pass", "BLOCK_COLS": 4096, "BLOCK_ROWS": 1, "num_stages": 1}


class Kept:
    """Results, written after every step."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.steps: list[dict[str, object]] = []

    def run(self, name: str, *words: str, limit_s: float = 240.0) -> int:
        """Run a command, keep what it printed and took, and return its status; a limit is a status too."""
        begin = time.perf_counter()
        try:
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=limit_s, check=False)
            code, printed, told = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as error:
            code, printed, told = 124, _text(error.stdout), _text(error.stderr)
        step = {
            "name": name, "command": list(words), "exit": code, "seconds": round(time.perf_counter() - begin, 3),
            "stdout": printed[-8000:], "stderr": told[-8000:],
        }  # fmt: skip
        self.steps.append(step)
        (self.out / "results.json").write_text(json.dumps(self.steps, indent=1))
        print(f"== {name}: exit {code}, {step['seconds']} s\n{told[-3000:]}{printed[-3000:]}", flush=True)
        return code

    def archive(self, workspace: Path) -> None:
        """Keep a workspace as it is now."""
        if workspace.is_dir():
            with tarfile.open(self.out / f"{workspace.name}.tgz", "w:gz") as file:
                file.add(workspace, workspace.name)


def _text(said: bytes | str | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""


def kb(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "kopt_kb", *words)


def platform_here() -> str:
    """Return the product of the first GPU, by what nvidia-smi calls it."""
    words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        name = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except OSError:
        name = ""
    return "H200_SXM" if "H200" in name else "H100_SXM"


def campaign(kept: Kept, name: str, demo: str, shape: str, args: argparse.Namespace, *more: str) -> None:
    """Make a workspace, run a campaign in it, audit it, and say where its seconds went."""
    parent = kept.out / "workspaces"
    parent.mkdir(exist_ok=True)
    workspace = parent / f"kernel_opt_{name}"
    kept.run(f"{name}: init", *kb(
        "init", name, "--platform", args.platform, "--framework", "Triton", "--kernel-demo", demo, "--shape", shape,
        "--dtype", "bf16", "--parent", str(parent),
    ))  # fmt: skip
    kept.run(f"{name}: run", *kb(
        "tune", "run", str(workspace), "--judge", args.judge, "--yes", "--no-stop", "target", "--no-stop",
        "hardware_limit", *more,
    ), limit_s=args.limit_s)  # fmt: skip
    kept.archive(workspace)
    kept.run(f"{name}: audit", *kb("audit", str(workspace)))
    kept.run(f"{name}: report", *kb("tune", "report", str(workspace)))
    kept.run(f"{name}: seconds", sys.executable, str(ROOT / "benchmarks" / "round_seconds.py"), str(workspace))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="")
    parser.add_argument("--judge", default="replay")
    parser.add_argument("--budget-s", default="60")
    parser.add_argument("--evaluations", default="60")
    parser.add_argument("--limit-s", type=float, default=150.0)
    parser.add_argument("--only", action="append", default=[], help="one of plan, norm, gemm; repeatable")
    args = parser.parse_args()
    args.platform = args.platform or platform_here()
    args.out.mkdir(parents=True, exist_ok=True)
    args.out = args.out.resolve()
    os.environ.setdefault("KOPT_CACHE", str(args.out / "cache"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    kept, wanted = Kept(args.out), args.only or ["plan", "norm", "gemm"]
    if "plan" in wanted:
        source = with_configs((ROOT / "kernels" / "rms_norm.py").read_bytes(), {NORM: TWO_PASS}).decode()
        plan = {
            "category": "parallelism",
            "claim": "walk rows in two passes",
            "expected": "less time",
            "source": source,
        }
        (args.out / "plan.json").write_text(json.dumps(plan))
        plan_words = ("--plan", str(args.out / "plan.json"), "--budget-s", args.budget_s)
        campaign(kept, "plan", "kernels/naive/rms_norm.py", NORM, args, *plan_words)
    if "norm" in wanted:
        more = ("--evaluations", "24", "--search-s", "10", "--budget-s", args.budget_s, "--max-rounds", "4")
        campaign(kept, "norm", "kernels/naive/rms_norm.py", NORM, args, *more)
    if "gemm" in wanted:
        more = ("--evaluations", args.evaluations, "--search-s", "40", "--budget-s", args.budget_s, "--max-rounds", "2")
        campaign(kept, "gemm", "kernels/naive/matmul.py", PRODUCT, args, *more)
    shutil.rmtree(args.out / "cache", ignore_errors=True)
    shutil.rmtree(args.out / "workspaces", ignore_errors=True)


if __name__ == "__main__":
    main()
