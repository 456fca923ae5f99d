"""The JSON of every command, frozen: field names and values on the invented wiki are part of the contract.

`KOPT_WRITE_GOLDEN=1 pytest tests/contract` writes the files anew; the diff is for review.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.cli.main import main
from tests.contract.sample import examples, golden_file, golden_files
from tests.demo_kernel import DEMO

DECLARED = {one.golden: (pack, one) for pack, one in examples() if one.golden}
CORE: dict[str, tuple[int, list[str]]] = {
    "list": (0, ["list"]),
    "lookup": (0, ["lookup", "T10"]),
    "lookup_metric": (0, ["lookup", "T10", "memory_bandwidth"]),
    "lookup_unknown": (4, ["lookup", "T10", "peak_compute", "dtype=bf16"]),
    "lookup_ambiguous": (2, ["lookup", "T10", "memory_bandwith"]),
    "compare": (0, ["compare", "T10", "T10_PRO", "peak_compute", "dtype=fp16"]),
    "search": (0, ["search", "bus", "--kind", "hardware", "--arch", "sm_00"]),
    "roofline_bare": (0, ["roofline", "--platform", "T10", "--flops", "1e9", "--bytes", "1e9", "--dtype", "fp32", "--engine", "vector"]),
    "roofline_op": (0, ["roofline", "--platform", "T10", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16"]),
    "roofline_unknown": (4, ["roofline", "--platform", "T10", "--op", "gemm", "--shape", "64x64x64", "--dtype", "bf16"]),
    "init": (0, ["init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo", "DEMO", "--shape", "8192x4096", "--dtype", "bf16"]),
    "audit": (0, ["audit", "kernel_opt_norm"]),
    "audit_foreign": (1, ["audit", "LOG", "--platform", "T10"]),
}  # fmt: skip
"""Name of the golden file → exit code and words, besides those that commands declare as examples."""

COMMANDS = CORE | {name: (one.code, shlex.split(one.words)) for name, (_, one) in DECLARED.items()}


FOREIGN = """platform,metric,value,unit,conditions
T10,memory_bandwidth,2.0,TB/s,
T10,memory_bandwidth,4.0,TB/s,
T10,peak_compute,102.4,TFLOPS,dtype=bf16; engine=matrix; sparsity=dense
T10,peak_compute,989,TFLOPS,
"""


LOG = """# Trend

| Round | Status | Description | TFLOPS | score | Check | commit |
|---|---|---|---|---|---|---|
| 1 | BASELINE | as it was | 30 | 1.00 | PASS | - |
| 3 | ACCEPTED | wider tiles | 900000 | 1.25 | FAIL | 1b7646a6 |

## Round 2
score: R1 1.02 → R2 1.10, all 4/4 shapes pass, median of 3
"""


def _run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = main([*words, "--json"])
    out = capsys.readouterr().out
    return code, json.loads(out)


def _stable(value: Any, replacements: dict[str, str]) -> Any:
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    for old, new in replacements.items():
        text = text.replace(old, new)
    return json.loads(re.sub(r'"20\d\d-\d\d-\d\dT[^"]*"', '"TIME"', text))


@pytest.mark.core
@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_the_frozen_one(
    name: str, wiki_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code and document; paths and times are replaced."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(wiki_root))
    monkeypatch.chdir(tmp_path)
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    table = tmp_path / "table.csv"
    table.write_text(FOREIGN)
    log = tmp_path / "logs"
    log.mkdir()
    (log / "performance_trend.md").write_text(LOG)
    places = {"LOG": "logs", "ROOT": str(wiki_root), "DEMO": str(demo), "TABLE": str(table)}
    if name == "audit":
        assert main([places.get(word, word) for word in COMMANDS["init"][1]]) == 0
        capsys.readouterr()
    expected_code, words = COMMANDS[name]
    code, body = _run([places.get(word, word) for word in words], capsys)
    assert code == expected_code
    body = _stable(body, {str(tmp_path): "TMP"})
    file = golden_file(name, DECLARED[name][0] if name in DECLARED else "")
    if os.environ.get("KOPT_WRITE_GOLDEN"):
        file.write_text(json.dumps(body, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    assert body == json.loads(file.read_text())


def test_every_golden_file_belongs_to_a_command() -> None:
    """No orphan, and none twice."""
    assert sorted(path.stem for path in golden_files()) == sorted(COMMANDS)
    assert not CORE.keys() & DECLARED.keys()
