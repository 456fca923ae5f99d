"""Profile one launch of a candidate with ncu, from inside its child process."""

from __future__ import annotations

import ast
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kopt_kb.kernels.compile.loader import load_module
from kopt_kb.runners.candidate.check import reference_of

__all__ = ["kernel_names", "launch_once", "ncu_report"]

_TOKEN = "profile"  # noqa: S105 - the inner job's answer is not used
_SKIP = 2


def ncu_report(body: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return ncu's CSV of one launch on the largest shape, or `unavailable` with the reason."""
    tool = shutil.which("ncu")
    if tool is None:
        return {"unavailable": "ncu is not on this machine"}
    names = kernel_names((folder / "candidate.py").read_bytes())
    if not names:
        return {"unavailable": "the file has no Triton kernel to profile"}
    inner = folder / "profiled"
    inner.mkdir()
    for name in ("candidate.py", "reference.py"):
        if (folder / name).is_file():
            shutil.copy(folder / name, inner / name)
    shape = max(body["shapes"], key=lambda text: math.prod(map(int, text.split("x"))))
    job = {"kind": "launch", "body": {**body, "shapes": [shape]}, "token": _TOKEN}
    (inner / "job.json").write_text(json.dumps(job), encoding="utf-8")
    report = folder / "ncu.csv"
    command = [
        tool, "--csv", "--page", "details", "--set", "basic", "--clock-control", "none", "--target-processes", "all",
        "--kernel-name", f"regex:^({'|'.join(names)})$", "--launch-skip", str(_SKIP), "--launch-count", "1",
        "--log-file", str(report), sys.executable, "-P", "-m", "kopt_kb.runners.candidate.child", str(inner), "0",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""
    if done.returncode or '"Metric Name"' not in text:
        last = (done.stdout + done.stderr + text).strip().splitlines()[-1:] or [""]
        return {"unavailable": f"ncu gave no report ({done.returncode}): {last[0][:200]}"}
    return {"csv": text, "shape": shape, "kernels": list(names)}


def launch_once(body: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Launch the candidate a few times on its shape, for a profiler that watches."""
    module = load_module(str(folder / "candidate.py"))
    shape = tuple(map(int, body["shapes"][0].split("x")))
    inputs = reference_of(folder).make_inputs(shape, body["dtype"], str(body.get("device", "cuda")), body["seeds"][0])
    for _ in range(_SKIP + 2):
        module.launch(*inputs)
    return {"launched": _SKIP + 2}


def kernel_names(source: bytes) -> tuple[str, ...]:
    """Return the names of the functions of a file that `triton.jit` decorates."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return tuple(one.name for one in functions if any("jit" in ast.unparse(mark) for mark in one.decorator_list))
