"""The folder that the examples of commands speak of: a small wiki, a workspace, a report, and files of many kinds."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.cli.commands import every_command
from kopt_kb.cli.kit.parser import leaves
from kopt_kb.cli.main import main
from kopt_kb.doors.command import CommandExample
from tests.conftest import PRODUCT, TARGET

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
CAMPAIGN = ROOT / "benchmarks" / "campaigns" / "h200_sxm" / "gemm"
INIT = ["--platform", "H20", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16", "--framework", "triton"]
KERNEL = """
import os
import torch
OP = "softmax"
def launch(x, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    return out.copy_(torch.softmax(x, -1))
"""
REGISTERS = {"registers": 124, "accumulation_registers": None, "scalar_registers": None, "tensor_memory_columns": 0}
SQUARE = {"Input Dims": [[8192, 8192]] * 2, "Input type": ["c10::BFloat16"] * 2}
STEP = {
    "deviceProperties": [{"id": 0, "name": "NVIDIA H20"}],
    "traceEvents": [
        {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 50, "args": args}
        for category, name, ts, args in (
            ("cpu_op", "aten::mm", 0, SQUARE),
            ("cuda_runtime", "cudaLaunchKernel", 9, {"correlation": 1}),
            ("kernel", "gemm", 99, {"correlation": 1, "device": 0, "stream": 7}),
        )
    ],
}
FILES = {
    "empty": "",
    "deep.json": "[" * 100_000,
    "text.json": "{}",
    "text.py": "x = 1\n\n\ndef f(a):\n    return a\n",
    "notes.md": "The kernel is fast.\n",
    "plan.txt": "Recommendations:\n1. [High] Enable FlashAttention\n",
    "kernels.json": json.dumps({"kernels": [{"name": "k", "time_share": 0.5}]}),
    "compiled.json": json.dumps({"kernels": [{"name": "k", "num_warps": 8, "shared_bytes": 98304, **REGISTERS}]}),
    "bench.log": "Cutile: {'forward': {'mean': 3.79, 'nrep': 13}} ms\n",
    "moe.log": "Config file not found at /x/E=1,N=2,device_name=NVIDIA_H20.json\n",
    "E=1,N=2,device_name=NVIDIA_H20.json": json.dumps({"1": {f"BLOCK_SIZE_{one}": 64 for one in "MNK"}}),
    "trace.json": json.dumps(STEP),
    "table.csv": "platform,metric,value,unit\nH20,memory_capacity,96,GB\n",
    "kernel.sass": '\t.headerflags\t@"EF_CUDA_SM90"\n\t.section\t.text.copy,"ax",@progbits\n'
    "        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;\n"
    "        /*0010*/                   EXIT ;\n",
    "good.py": KERNEL,
    "crash.py": KERNEL.replace("    out =", "    os._exit(3)\n    out =", 1),
    "wiki/targets/sm_00.md": TARGET,
    "wiki/hardware/nvidia/t10.md": PRODUCT,
}


def examples() -> Iterator[tuple[str, CommandExample]]:
    """Yield pack and example of every command; the pack of the core's is empty."""
    for pack, command in every_command():
        yield from ((pack, one) for one in command.examples)


def golden_file(name: str, pack: str) -> Path:
    """Return the file that freezes a document: those of a pack stand with its tests."""
    folder = ROOT / "tests" / "packs" / pack if pack else ROOT / "tests" / "contract"
    return folder / "golden" / f"{name}.json"


def golden_files() -> list[Path]:
    """Return every golden file, those of absent packs too."""
    return sorted((ROOT / "tests").glob("contract/golden/*.json")) + sorted(
        (ROOT / "tests").glob("packs/*/golden/*.json")
    )


def leaf_of(words: str) -> str:
    """Return the command of a line and its sub-command, where it has one."""
    commands = {command.name: command for _, command in every_command()}
    first, *rest = shlex.split(words)
    below = {leaf.partition(" ")[2] for leaf in leaves(commands[first])}
    return f"{first} {rest[0]}" if rest and rest[0] in below else first


def first_examples() -> dict[str, CommandExample]:
    """Return command and sub-command → its first example; those on the invented wiki are left out."""
    return {leaf_of(one.words): one for _, one in reversed(list(examples())) if not one.golden}


def make_sample(root: Path) -> Path:
    """Write it all into a folder, `ws` a workspace of RMSNorm among it; `nothing.py` and `nothing.log` are not there."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "folder" / "inside").mkdir(parents=True)
    (root / "binary").write_bytes(bytes(range(256)) * 8)
    shutil.copy(ROOT / "kernels" / "naive" / "softmax.py", root / "rows.py")
    shutil.copy(ROOT / "kernels" / "cutile" / "rms_norm.py", root / "tiles.py")
    shutil.copy(DATA / "bad_tiles.py", root)
    report = (DATA / "zoo" / "compute.csv").read_text().splitlines(keepends=True)
    (root / "report.csv").write_text("".join(report[:4]))
    demo = str(ROOT / "kernels" / "rms_norm.py")
    assert main(["init", "made", *INIT, "--kernel-demo", demo, "--parent", str(root)]) == 0
    (root / "kernel_opt_made").rename(root / "ws")
    return root


def add_campaign(root: Path) -> Path:
    """Add `campaign`, one that was recorded on an H200, to a sample; returns the folder."""
    shutil.copytree(CAMPAIGN, root / "campaign")
    return root
