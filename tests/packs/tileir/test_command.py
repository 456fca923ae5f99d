"""`kb tileir`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.launch.kernel.declared import packaged_file

CODE = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(p, q):\n    tl.store(q, tl.load(p))\n"


def test_classify_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "classify", str(packaged_file("softmax"))]) == 0
    out = capsys.readouterr().out
    assert "norm-like" in out
    assert "strategy: High occupancy" in out


def test_classify_inline_code_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "classify", "--code", CODE, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (found["classification"], found["kernel"]) == ("element-wise", "k")


def test_classify_needs_one_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "classify"]) == 2
    assert main(["tileir", "classify", "a.py", "--code", "b"]) == 2
    assert capsys.readouterr().err.count("[KB103]") == 2


def test_apply_writes_beside_the_file_and_never_over_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.py"
    file.write_text(CODE, encoding="utf-8")
    assert main(["tileir", "apply", str(file)]) == 0
    assert "k: element-wise" in capsys.readouterr().out
    assert "TileirTuned(k" in (tmp_path / "k_tileir.py").read_text(encoding="utf-8")
    assert main(["tileir", "apply", str(file)]) == 2
    assert "[KB113]" in capsys.readouterr().err
    assert main(["tileir", "apply", str(file), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"].endswith("k_tileir.py")
    assert main(["tileir", "apply", str(file), "--output", str(tmp_path / "no" / "k.py")]) == 2
    assert "[KB112]" in capsys.readouterr().err


def test_apply_prints_inline_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "apply", "--code", CODE]) == 0
    assert "class TileirChoice" in capsys.readouterr().out


def test_check_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "check"]) == 3
    assert "TileIR is not active" in capsys.readouterr().out
    assert main(["tileir", "check", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["tileir_active"] is False


def test_run_and_bench_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.py"
    file.write_text(CODE, encoding="utf-8")
    assert main(["tileir", "run", str(file)]) == 0
    out = capsys.readouterr().out
    assert "## TileIR Optimization: k" in out
    assert "NOT RUN" in out
    assert main(["tileir", "bench", str(file), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["timings"][0]["time_ms"] is None
    assert main(["tileir", "bench", str(file), "--time-limit", "0"]) == 2
    assert main(["tileir", "bench", str(file), "--shape", "axb"]) == 2
    assert main(["tileir", "bench", str(file), "--prepared", str(tmp_path / "no.py")]) == 2
