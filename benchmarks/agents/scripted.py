"""Two scripted agents, to try the harness without a model: what the skills say, and what rules of thumb say.

`scripted.py with` runs the commands that the skills name and reads their JSON. `scripted.py without` has no tool: its
memory is what public tables print (the side of a conflict that the wiki rejected, else the sparse rate where the dense
one is asked), and it reads reports by the thresholds of public skills (above 60 %, below 40 %). Neither is a model: the
first shows that the commands suffice, the second what is lost without them.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def kb(*words: str) -> tuple[int, dict[str, Any]]:
    """Run a command and return its end and its document."""
    done = subprocess.run(["kb", *words, "--json"], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def _looked_up(*words: str) -> dict[str, Any]:
    code, found = kb("lookup", *words)
    if code == 4:
        return {"value": "UNKNOWN", "unit": "", "citation": ""}
    if "error" in found:
        products = found["error"]["fix"].partition(": ")[2].split(", ")
        return {"ask": products, "value": "UNKNOWN", "unit": "", "citation": ""}
    (spec,) = found["specs"][:1]
    return {"value": spec["text"], "unit": spec["unit"], "citation": spec["citation"]}


def _bound() -> dict[str, Any]:
    words = ("--platform", "H100_SXM", "--op", "gemm", "--shape", "256x4096x4096", "--dtype", "bf16")
    return {"bound": kb("roofline", *words)[1]["bound"].split("-")[0]}


def _target_h20() -> dict[str, Any]:
    found = kb("roofline", "--platform", "H20", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16")[1]
    source = _looked_up("H20", "memory_bandwidth")
    return {
        "bound": found["bound"].split("-")[0],
        "value": float(source["value"]) * 0.9,
        **{k: source[k] for k in ("unit", "citation")},
    }


def _limiter(kernel: str) -> dict[str, Any]:
    found = kb("profile", "read", "report.csv", "--platform", "H100_SXM")[1]
    named = [one for one in found["kernels"] if one["function"] == kernel]
    return {"limiter": named[0]["verdict"]["limiter"] if named else "absent"}


def _slower() -> dict[str, Any]:
    found = kb("profile", "diff", "before.csv", "after.csv", "--threshold", "5")[1]
    return {"kernels": [one["name"] for one in found["slower"]]}


def _tampered() -> dict[str, Any]:
    code, found = kb("audit", "kernel_opt_norm")
    files = [one["file"] for one in found["findings"]]
    return {"trusted": code == 0, "file": files[0] if files else ""}


def _wrong_text() -> dict[str, Any]:
    found = kb("lint-text", "report.md", "--level", "error")[1]
    return {"lines": [one["line"] for one in found["findings"]]}


MATRIX = ("engine=matrix", "sparsity=dense")
WITH = {
    "peak-bf16": lambda: _looked_up("H100_SXM", "peak_compute", "dtype=bf16", *MATRIX),
    "peak-fp8": lambda: _looked_up("H20", "peak_compute", "dtype=fp8", *MATRIX),
    "bandwidth-h20": lambda: _looked_up("H20", "memory_bandwidth"),
    "bandwidth-b200": lambda: _looked_up("B200", "memory_bandwidth"),
    "bandwidth-mi308x": lambda: _looked_up("MI308X", "memory_bandwidth"),
    "which-h100": lambda: _looked_up("H100", "memory_bandwidth"),
    "target-h20": _target_h20,
    "bound-gemm": _bound,
    "limiter-spill": lambda: _limiter("spill_registers"),
    "limiter-chase": lambda: _limiter("dependency_chase_dram"),
    "wrong-kernel": lambda: _limiter("rms_norm_kernel"),
    "slower": _slower,
    "tampered": _tampered,
    "wrong-text": _wrong_text,
    "library-call": lambda: {"own": kb("verify", "source", "kernel.py")[0] == 0},
}


def _remembered(platform: str, metric: str, **axes: str) -> dict[str, Any]:
    """What public tables print of it: the rejected side of a conflict, the sparse rate for the dense one."""
    from kopt_kb import Registry
    from kopt_kb.wiki.lookup import lookup

    sparse = {**axes, "sparsity": "2:4"} if axes.get("sparsity") == "dense" else axes
    product = Registry.open().platform(platform)
    found = lookup(product, metric, **sparse).to_json()
    if not found["specs"]:  # nobody prints a sparse rate of it
        found = lookup(product, metric, **axes).to_json()
    rejected = [one for one in found["conflicts"] if any(note["tag"] == "rejected" for note in one["notes"])]
    one = (rejected or found["specs"])[0]
    return {"value": one["text"], "unit": one["unit"], "citation": one["source"]["title"]}


def _by_thumb(file: str, kernel: str | None) -> str:
    """The limiter by thresholds: compute above 60 and memory below 40 %, the reverse, both below 40."""
    with Path(file).open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Kernel Name"]]
    named = [row for row in rows if kernel is None or row["Kernel Name"].split("(")[0] == kernel] or rows
    metrics = ("sm__throughput", "gpu__compute_memory_throughput")
    compute, memory = (float(named[0][f"{one}.avg.pct_of_peak_sustained_elapsed"].replace(",", "")) for one in metrics)
    return (
        "fp32"
        if compute > 60 > memory
        else "dram"
        if memory > 60
        else "dependency"
        if max(compute, memory) < 40
        else "?"
    )


def _sum_slower() -> list[str]:
    """The kernels of a report that is slower as a whole by 5 %."""
    sums = []
    for file in ("before.csv", "after.csv"):
        with Path(file).open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row["Kernel Name"]]
        sums.append(sum(float(row["gpu__time_duration.sum"].replace(",", "")) for row in rows))
    return ["all"] if sums[1] > 1.05 * sums[0] else []


def _remembered_target() -> dict[str, Any]:
    found = _remembered("H20", "memory_bandwidth")
    return {"bound": "memory", **found, "value": float(found["value"]) * 0.9}


DENSE = {"engine": "matrix", "sparsity": "dense"}
WITHOUT = {
    "peak-bf16": lambda: _remembered("H100_SXM", "peak_compute", dtype="bf16", **DENSE),
    "peak-fp8": lambda: _remembered("H20", "peak_compute", dtype="fp8", **DENSE),
    "bandwidth-h20": lambda: _remembered("H20", "memory_bandwidth"),
    "bandwidth-b200": lambda: _remembered("B200", "memory_bandwidth"),
    "bandwidth-mi308x": lambda: _remembered("MI300X", "memory_bandwidth"),
    "which-h100": lambda: _remembered("H100_SXM", "memory_bandwidth"),
    "target-h20": _remembered_target,
    "bound-gemm": lambda: {"bound": "compute"},  # intensity above 50
    "limiter-spill": lambda: {"limiter": _by_thumb("report.csv", "spill_registers")},
    "limiter-chase": lambda: {"limiter": _by_thumb("report.csv", "dependency_chase_dram")},
    "wrong-kernel": lambda: {"limiter": _by_thumb("report.csv", None)},
    "slower": lambda: {"kernels": _sum_slower()},
    "tampered": lambda: {"trusted": True, "file": ""},
    "wrong-text": lambda: {"lines": []},
    "library-call": lambda: {"own": "@triton.jit" in Path("kernel.py").read_text(encoding="utf-8")},
}


def main() -> None:
    task = json.load(sys.stdin)["task"]
    print(json.dumps((WITH if sys.argv[1] == "with" else WITHOUT)[task]()))


if __name__ == "__main__":
    main()
