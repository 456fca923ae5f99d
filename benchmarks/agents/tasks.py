"""The tasks: a question, the files that go with it, and what a right answer is.

No value is written here by hand: values are read from the wiki, limiters are those the microkernels were built with
(tests/data/zoo/expected.csv), and what was changed in a file is known because `prepare` changes it.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "tests" / "data" / "zoo"
VALUE = {"value": "a number, or UNKNOWN", "unit": "its unit", "citation": "<gpu-wiki>/file:line, or where it is from"}
_EXPECTED = (ZOO / "expected.csv").read_text(encoding="utf-8").splitlines()
LIMITERS = sorted({row["limiter"] for row in csv.DictReader(_EXPECTED)})


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: Its id.
        prompt: What is asked.
        form: Members of the answer, one JSON object, and what they mean.
        prepare: Makes the files in a folder.
        right: Whether an answer is right.
    """

    name: str
    prompt: str
    form: dict[str, str]
    prepare: Callable[[Path], None]
    right: Callable[[dict[str, Any]], bool]


def nothing(_folder: Path) -> None:
    """Make no files."""


def _value_is(platform: str, metric: str, factor: float = 1.0, **axes: str) -> Callable[[dict[str, Any]], bool]:
    """Compare with the wiki's value: equal within 0.2 %, in any unit."""

    def right(answer: dict[str, Any]) -> bool:
        from kopt_kb import Registry
        from kopt_kb.base.errors import KoptError
        from kopt_kb.quantity.units import unit

        wanted = float(Registry.open().platform(platform).get(metric, **axes).si) * factor
        try:
            given = float(answer["value"]) * float(unit(str(answer["unit"])).factor)
        except (KoptError, KeyError, TypeError, ValueError):
            return False
        return math.isclose(given, wanted, rel_tol=2e-3)

    return right


def _says(**wanted: Any) -> Callable[[dict[str, Any]], bool]:
    """Compare members; lists as sets."""

    def right(answer: dict[str, Any]) -> bool:
        found = {name: sorted(v) if isinstance(v := answer.get(name), list) else v for name in wanted}
        return found == {name: sorted(v) if isinstance(v, list) else v for name, v in wanted.items()}

    return right


def _reports(*names: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        for name in names:
            shutil.copy(ZOO / name, folder / "report.csv")

    return prepare


def _slower(folder: Path) -> None:
    """Two reports; in the later one kernel takes 12 % longer and two others 3 % less, so that the sum hardly moves."""
    shutil.copy(ZOO / "memory.csv", folder / "before.csv")
    with (ZOO / "memory.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    at, name = rows[0].index("gpu__time_duration.sum"), rows[0].index("Kernel Name")
    for row in rows[2:]:
        factor = {"l2_read16": 1.12, "dram_copy4": 0.97, "dram_copy16": 0.97}.get(row[name].split("(")[0], 1.0)
        row[at] = f"{float(row[at].replace(',', '')) * factor:,.2f}"
    with (folder / "after.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)


def _workspace(folder: Path) -> None:
    """A workspace of which one digit of one target was changed by hand."""
    words = ["init", "norm", "--platform", "H20", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16"]
    command = [sys.executable, "-m", "kopt_kb", *words, "--parent", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    readme = folder / "kernel_opt_norm" / "README.md"
    text = readme.read_text(encoding="utf-8")
    at = re.search(r"target >= (\d)", text)
    assert at is not None
    readme.write_text(f"{text[: at.start(1)]}{int(at[1]) - 1}{text[at.end(1) :]}", encoding="utf-8")


def _text(folder: Path) -> None:
    """A report with three claims, of which the second takes the sparse rate for the dense one."""
    from kopt_kb import Registry

    found = Registry.open().platform("H100_SXM")
    axes = {"dtype": "bf16", "engine": "matrix"}
    rates = [float(found.get("peak_compute", sparsity=kind, **axes).si) / 1e12 for kind in ("dense", "2:4")]
    bandwidth = float(found.require("memory_bandwidth").si) / 1e12
    lines = (
        f"H100 SXM: memory bandwidth {bandwidth:g} TB/s.", f"H100 SXM: dense BF16 peak {rates[1]:g} TFLOPS.",
        f"H100 SXM: BF16 peak {rates[1]:g} TFLOPS with sparsity, {rates[0]:g} TFLOPS dense.",
    )  # fmt: skip
    (folder / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _library_call(folder: Path) -> None:
    """A kernel file of which the launcher calls the library it is compared with."""
    text = (ROOT / "kernels" / "rms_norm.py").read_text(encoding="utf-8")
    more = "\n\ndef launch(x, weight, eps=1e-6, config=None):\n    import torch\n\n"
    text += f"{more}    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)\n"
    (folder / "kernel.py").write_text(text, encoding="utf-8")


MATRIX = "of dense matrix operations"
_LIMITER = {"limiter": "one of " + ", ".join(LIMITERS)}
TASKS = (
    Task("peak-bf16", f"What is the BF16 peak rate {MATRIX} of an H100 SXM?", VALUE, nothing,
         _value_is("H100_SXM", "peak_compute", dtype="bf16", engine="matrix", sparsity="dense")),
    Task("peak-fp8", f"What is the FP8 peak rate {MATRIX} of an H20?", VALUE, nothing,
         _value_is("H20", "peak_compute", dtype="fp8", engine="matrix", sparsity="dense")),
    Task("bandwidth-h20", "What is the memory bandwidth of an H20 (96 GB)?", VALUE, nothing,
         _value_is("H20", "memory_bandwidth")),
    Task("bandwidth-b200", "What is the memory bandwidth of a B200?", VALUE, nothing,
         _value_is("B200", "memory_bandwidth")),
    Task("bandwidth-mi308x", "What is the memory bandwidth of an MI308X?", VALUE, nothing, _says(value="UNKNOWN")),
    Task("which-h100", "What is the memory bandwidth of an H100? If the name is ambiguous, say what it can mean.",
         {**VALUE, "ask": "list of products, where the name is ambiguous"}, nothing,
         _says(ask=["H100_NVL", "H100_PCIE", "H100_SXM"])),
    Task("target-h20", "RMS norm of 8192x4096 in bf16 on an H20: which roof binds, and what is 90 % of it?",
         {"bound": "memory or compute", **VALUE}, nothing,
         lambda answer: answer.get("bound") == "memory" and _value_is("H20", "memory_bandwidth", 0.9)(answer)),
    Task("bound-gemm", "Is a bf16 matrix product of 256x4096x4096 memory-bound or compute-bound on an H100 SXM?",
         {"bound": "memory or compute"}, nothing, _says(bound="memory")),
    Task("limiter-spill", "report.csv is of Nsight Compute, H100 SXM. What limits the kernel spill_registers?",
         _LIMITER, _reports("memory.csv"), _says(limiter="spill")),
    Task("limiter-chase", "report.csv is of Nsight Compute, H100 SXM. What limits the kernel dependency_chase_dram?",
         _LIMITER, _reports("latency.csv"), _says(limiter="dependency")),
    Task("wrong-kernel", "report.csv was recorded to explain why rms_norm_kernel is slow. Which limiter does it show?",
         {"limiter": "one of " + ", ".join(LIMITERS) + ", or absent where the report does not have the kernel"},
         _reports("memory.csv"), _says(limiter="absent")),
    Task("slower", "Which kernels of after.csv take more than 5 % longer than in before.csv?",
         {"kernels": "their names"}, _slower, _says(kernels=["l2_read16"])),
    Task("tampered", "Can the targets in kernel_opt_norm be trusted? If not, which file was changed?",
         {"trusted": "true or false", "file": "path in the workspace, or empty"}, _workspace,
         _says(trusted=False, file="README.md")),
    Task("wrong-text", "Which lines of report.md state a wrong hardware number?", {"lines": "line numbers"}, _text,
         _says(lines=[2])),
    Task("library-call", "Is kernel.py a kernel of its own, or does its launcher call a library?",
         {"own": "true or false"}, _library_call, _says(own=False)),
)  # fmt: skip


def is_sourced(answer: dict[str, Any]) -> bool | None:
    """Return whether the citation of a value is a line of the wiki that holds a row; None where no value was given."""
    if "citation" not in answer or answer.get("value") in (None, "UNKNOWN"):
        return None
    found = re.search(r"<gpu-wiki>/(?P<path>[\w./-]+):L?(?P<line>\d+)", str(answer["citation"]))
    if found is None:
        return False
    file = ROOT / "gpuwiki" / found["path"]
    if ".." in found["path"] or not file.is_file():
        return False
    lines = file.read_text(encoding="utf-8").splitlines()
    return 0 < int(found["line"]) <= len(lines) and lines[int(found["line"]) - 1].startswith("|")


def document(task: Task, arm: str) -> str:
    """Return what an agent reads on stdin."""
    skills = sorted(str(path) for path in (ROOT / "skills").glob("*/SKILL.md")) if arm == "with" else []
    rule = "Answer with one JSON object on the last line. Say UNKNOWN where a value is not documented; do not guess."
    return json.dumps(
        {
            "task": task.name,
            "prompt": task.prompt,
            "answer": task.form,
            "rule": rule,
            "tool": arm == "with",
            "skills": skills,
        }
    )
