"""`kb tileir`."""

from __future__ import annotations

import json

import pytest

from kopt_kb.cli.main import main
from kopt_kb.kernels.declared import packaged_file


def test_classify_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "classify", str(packaged_file("softmax"))]) == 0
    out = capsys.readouterr().out
    assert "norm-like" in out
    assert "strategy: High occupancy" in out


def test_classify_inline_code_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(p, q):\n    tl.store(q, tl.load(p))\n"
    assert main(["tileir", "classify", "--code", code, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (found["classification"], found["kernel"]) == ("element-wise", "k")


def test_classify_needs_one_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileir", "classify"]) == 2
    assert main(["tileir", "classify", "a.py", "--code", "b"]) == 2
    assert capsys.readouterr().err.count("[KB103]") == 2
