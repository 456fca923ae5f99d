"""Profile one launch of a candidate with ncu, from inside its child process."""

from __future__ import annotations

import ast
import math
import shutil
from dataclasses import replace
from pathlib import Path

from kopt_kb.launch.candidate.answers import ReportEvidence, Unable, WatchedLaunches
from kopt_kb.launch.candidate.check import device_of, reference_of
from kopt_kb.launch.candidate.exchange import child_argv, give
from kopt_kb.launch.candidate.job import Request
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["kernel_names", "launch_once", "ncu_report"]

_SKIP = 2


def ncu_report(body: Request, folder: Path) -> ReportEvidence | Unable:
    """Return ncu's CSV of one launch on the largest shape, or why there is none."""
    tool = shutil.which("ncu")
    if tool is None:
        return Unable(unavailable="ncu is not on this machine")
    names = kernel_names((folder / "candidate.py").read_bytes())
    if not names:
        return Unable(unavailable="the file has no Triton kernel to profile")
    inner = folder / "profiled"
    inner.mkdir()
    for name in ("candidate.py", "reference.py"):
        if (folder / name).is_file():
            shutil.copy(folder / name, inner / name)
    shape = max(body.shapes, key=lambda text: math.prod(map(int, text.split("x"))))
    give(inner, "launch", replace(body, shapes=(shape,)))
    report = folder / "ncu.csv"
    command = [
        tool, "--csv", "--page", "raw", "--print-units", "base", "--set", "full", "--clock-control", "none",
        "--target-processes", "all",
        "--kernel-name", f"regex:^({'|'.join(names)})$", "--launch-skip", str(_SKIP), "--launch-count", "1",
        "--log-file", str(report), *child_argv(inner),
    ]  # fmt: skip
    done = run(command, env=environment(ours=True), limits=ChildLimits(joined=True))
    text = report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""
    if done.code or '"Kernel Name"' not in text:
        last = next(reversed(text.strip().splitlines()), "") or done.last_line
        return Unable(unavailable=f"ncu gave no report ({done.code}): {last[:200]}")
    return ReportEvidence(text, shape, names)


def launch_once(body: Request, folder: Path) -> WatchedLaunches:
    """Launch the candidate a few times on its shape, for a profiler that watches."""
    module = load_module(str(folder / "candidate.py"))
    shape = tuple(map(int, body.shapes[0].split("x")))
    inputs = reference_of(folder).make_inputs(shape, body.dtype, device_of(body), body.seeds[0])
    for _ in range(_SKIP + 2):
        module.launch(*inputs)
    return WatchedLaunches(_SKIP + 2)


def kernel_names(source: bytes) -> tuple[str, ...]:
    """Return the names of the functions of a file that `triton.jit` decorates."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return tuple(one.name for one in functions if any("jit" in ast.unparse(mark) for mark in one.decorator_list))
