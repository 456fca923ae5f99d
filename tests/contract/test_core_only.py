"""The core install alone: no numpy, torch, triton or pyarrow; what needs one says which extra brings it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
_CORE = """
import contextlib, io, json, sys
for name in ("numpy", "torch", "triton", "pyarrow", "ncu_report", "optuna", "matplotlib", "rich", "shtab", "mcp"):
    sys.modules[name] = None
from kopt_kb.cli.main import main
answers = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(words)
    answers.append((code, err.getvalue()[-300:]))
print(json.dumps(answers))
"""


def test_what_the_core_does_and_what_it_asks_for(tmp_path: Path) -> None:
    """The tour without a GPU, a report, a large and a small trace; exit 3 names the extra."""
    workspace = str(tmp_path / "kernel_opt_norm")
    op = ["--op", "rms_norm", "--shape", "1024x512", "--dtype", "bf16", "--platform", "H20"]
    demo = ["--framework", "Triton", "--kernel-demo", "op:naive/rms_norm", "--parent", str(tmp_path)]
    asked: list[tuple[int, str, list[str]]] = [
        (0, "", ["lookup", "H20"]),
        (0, "", ["roofline", *op]),
        (0, "", ["init", "norm", *op, *demo]),
        (0, "", ["tune", "run", workspace, "--simulate", "--yes", "--samples", "3", "--budget-rounds", "1"]),
        (0, "", ["render", workspace]),
        (0, "", ["audit", workspace]),
        (0, "", ["profile", "read", str(DATA / "zoo" / "memory.csv")]),
        (3, '"traces"', ["profile", "read", str(DATA / "traces" / "torch_h100.json.gz")]),
        (3, "[completion]", ["completion", "bash"]),
        (3, "", ["count", "op:rms_norm", "--shape", "64x64", "--dtype", "bf16"]),
    ]
    command = [sys.executable, "-c", _CORE, json.dumps([words for _, _, words in asked])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-800:]
    answers = json.loads(done.stdout.splitlines()[-1])
    for (code, says, words), (got, error) in zip(asked, answers, strict=True):
        assert got == code and says in error, (words, got, error)
