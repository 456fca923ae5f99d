"""How long `kb tune run` alone takes from a naive kernel to the best known, on a GPU: existing commands, nothing else.

Usage: python benchmarks/time_to_target.py --out DIR [--only rms_norm] [--budget-s 200] [--seconds NAME=S ...]

Each campaign is `kb init --kernel-demo`, `kb tune run --budget-s` with the goal's seconds, `kb audit`. Then the kernel
that the workspace holds meets, in one run and in turn, the best settings of the packaged kernel that
benchmarks/kernels_at_record.py knows and the best opponents. results.jsonl in DIR has a line a campaign, written when
it is over: the seconds after which each version was accepted, counted from the start of `kb tune run`, and the ratio
of the best to the kernel. Archives of the workspaces lie beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import kernels_at_record as record

from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.ceilings import environment
from kopt_kb.launch.kernel.timing import interleave

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Goal:
    """A kernel to start from, and what it is to reach: that share of the best known, within so many seconds."""

    start: str
    kernel: str
    shape: tuple[int, ...]
    share: float
    seconds: float


GOALS = {
    "rms_norm": Goal("kernels/naive/rms_norm.py", "rms_norm", (8192, 4096), 0.98, 30),
    "softmax": Goal("kernels/naive/softmax.py", "softmax", (8192, 4096), 0.98, 30),
    "gemm": Goal("kernels/naive/matmul.py", "matmul", (4096, 4096, 4096), 0.98, 90),
    "gemm_8192": Goal("kernels/naive/matmul.py", "matmul", (8192, 8192, 8192), 0.98, 90),
    "attention": Goal("kernels/naive/attention.py", "attention", (4, 32, 4096, 128), 0.80, 300),
}


def kb(*words: str, limit_s: float = 400.0) -> dict[str, Any]:
    """Run a command as a user would and return its exit status, seconds and the end of what it printed."""
    begin = time.time()
    done = subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    return {
        "command": "kb " + " ".join(words), "exit": done.returncode, "began": begin,
        "seconds": round(time.time() - begin, 2), "stdout": done.stdout[-6000:], "stderr": done.stderr[-6000:],
    }  # fmt: skip


def accepted(workspace: Path, began: float) -> list[dict[str, Any]]:
    """Return each accepted version with the seconds from the start of the tuning to its decision, and its times."""
    found: list[dict[str, Any]] = []
    times: dict[str, list[float]] = {}
    for line in (workspace / "journal.jsonl").read_text().splitlines():
        event = json.loads(line)
        data = event["data"]
        if event["kind"] == "measured":
            times.setdefault(data["candidate"], []).append(data["median_s"])
        if event["kind"] == "decided" and data["decision"].startswith("accept"):
            at = datetime.fromisoformat(event["t"]).timestamp()
            version = f"v{data['round']}"
            found.append({"version": version, "at_s": round(at - began, 2), "median_us": _micro(times.get(version))})
    return found


def _micro(times: list[float] | None) -> float | None:
    return round(1e6 * statistics.median(times), 2) if times else None


def against_the_best(goal: Goal, kernel: Path) -> dict[str, Any]:
    """Time the tuned kernel, the packaged one's best known settings and the opponents in turn, cold and checked."""
    module = load_module(str(kernel))
    configs = next(one for name, shape, one in record.CASES if (name, shape) == (goal.kernel, goal.shape))
    buffers = record.Buffers(goal.kernel, goal.shape)
    found = record.contenders(goal.kernel, goal.shape, configs, buffers)
    found["tuned"] = lambda inputs, out: module.launch(*inputs, out=out)
    good, left = buffers.checked(found)
    if "tuned" in left:
        return {"failed": left["tuned"]}
    timers = {name: record.graph_of(function, buffers, len(buffers.outs)) for name, function in good.items()}
    brief = dict(zip(timers, map(statistics.median, interleave(list(timers.values()), 5)), strict=True))
    last = ["tuned", *sorted((one for one in brief if one != "tuned"), key=brief.__getitem__)[:6]]
    samples = dict(zip(last, interleave([timers[one] for one in last], 15), strict=True))
    medians = {name: statistics.median(times) for name, times in samples.items()}
    best = min(last[1:], key=medians.__getitem__)
    share = statistics.median(a / b for a, b in zip(samples[best], samples["tuned"], strict=True))
    times = {name: round(1e6 * seconds, 2) for name, seconds in medians.items()}
    return {"best": best, "share_of_best": round(share, 4), "median_us": times, "left_out": left}


def campaign(name: str, goal: Goal, platform: str, out: Path) -> dict[str, Any]:
    """Run one campaign and judge what it left."""
    parent, shape = out / "workspaces", "x".join(map(str, goal.shape))
    parent.mkdir(exist_ok=True)
    workspace = parent / f"kernel_opt_{name}"
    steps = [kb(
        "init", name, "--platform", platform, "--framework", "Triton", "--kernel-demo", goal.start,
        "--shape", shape, "--dtype", "bf16", "--parent", str(parent),
    )]  # fmt: skip
    steps.append(kb(
        "tune", "run", str(workspace), "--yes", "--no-stop", "target", "--no-stop", "hardware_limit",
        "--budget-s", str(goal.seconds), "--search-s", str(max(5, goal.seconds / 5)), "--evaluations", "60",
    ))  # fmt: skip
    steps.append(kb("audit", str(workspace)))
    with tarfile.open(out / f"{workspace.name}.tgz", "w:gz") as file:
        file.add(workspace, workspace.name)
    line: dict[str, Any] = {
        "goal": name, "shape": shape, "budget_s": goal.seconds, "wanted_share": goal.share,
        "versions": accepted(workspace, steps[1]["began"]), "steps": steps,
    }  # fmt: skip
    return line | against_the_best(goal, workspace / "kernel.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default="H100_SXM")
    parser.add_argument("--only", action="append", default=[], choices=[*GOALS])
    parser.add_argument("--budget-s", type=float, default=600.0, help="no campaign begins that would end later")
    args = parser.parse_args()
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    begin = time.monotonic()
    with (args.out / "results.jsonl").open("w") as file:
        file.write(json.dumps({"environment": environment(), "platform": args.platform}) + "\n")
        for name in args.only or GOALS:
            if time.monotonic() - begin + GOALS[name].seconds > args.budget_s:
                continue
            try:
                line = campaign(name, GOALS[name], args.platform, args.out)
            except Exception as error:  # noqa: BLE001 - the other campaigns run all the same
                line = {"goal": name, "failed": f"{type(error).__name__}: {error}"[:500]}
            file.write(json.dumps(line) + "\n")
            file.flush()
            print({key: one for key, one in line.items() if key != "steps"}, flush=True)
    shutil.rmtree(args.out / "workspaces", ignore_errors=True)


if __name__ == "__main__":
    main()
