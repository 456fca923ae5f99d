"""`kb roofline` prints definitions, roofs, verdict and citations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

BASE = ["roofline", "--platform", "T10"]


@pytest.fixture(autouse=True)
def wiki(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The invented wiki by environment variable."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(wiki_root))


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Both definitions, both targets, all citations."""
    assert main([*BASE, "--op", "rmsnorm", "--shape", "8192x4096", "--dtype", "bf16"]) == 0
    out = capsys.readouterr().out
    for text in (
        "useful operations, fp32 vector",
        "compulsory bytes, dram read",
        "flops: a row of N",
        "bytes: x once",
        "memory-bound target >= 1.8 TB/s",
        "compute-bound target >= 23.04 TFLOPS",
        "memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/",
    ):
        assert text in out


def test_several_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    """One roofline each; JSON as a list."""
    words = [*BASE, "--op", "softmax", "--shape", "64x64", "--shape", "128x128", "--dtype", "fp16"]
    assert main(words) == 0
    assert capsys.readouterr().out.count("Verdict") == 2
    assert main([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rooflines"]) == 2


def test_unknown_exits_4_and_grade_refusal_1(capsys: pytest.CaptureFixture[str], wiki_root: Path) -> None:
    """UNKNOWN roof, weak roof."""
    assert main([*BASE, "--op", "gemm", "--shape", "64x64x64", "--dtype", "bf16"]) == 4
    assert "UNKNOWN" in capsys.readouterr().out
    page = wiki_root / "hardware" / "nvidia" / "t10.md"
    page.write_text(page.read_text().replace("| 2.0 | TB/s | - | vendor", "| 2.0 | TB/s | - | secondary"))
    assert main([*BASE, "--op", "softmax", "--shape", "64x64", "--dtype", "fp16", "--min-grade", "vendor"]) == 1
    assert main([*BASE, "--op", "softmax", "--shape", "64x64", "--dtype", "fp16", "--min-grade", "best"]) == 2
