"""`kb lint-text`: text, JSON, SARIF, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """A text with another product's bandwidth."""
    path = tmp_path / "a.md"
    path.write_text("H20: peak memory bandwidth 4.8 TB/s\n")
    return str(path)


def test_text(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a finding with its place, then its row."""
    assert main(["lint-text", wrong]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{wrong}:1:28: error: 4.8 TB/s is not the memory_bandwidth of H20")
    assert second.strip().startswith("memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/hardware/nvidia/h20.md:L")
    assert last.startswith("1 finding(s); 1 number(s) of 1 file(s) held against gpu-wiki ")


def test_documents(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON and SARIF."""
    assert main(["lint-text", wrong, "--format", "json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert body["findings"][0]["class"] == "other-product" and body["data"]["date"]
    assert main(["lint-text", wrong, "--format", "sarif"]) == 1
    assert json.loads(capsys.readouterr().out)["version"] == "2.1.0"


def test_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 and how much was held."""
    (tmp_path / "a.md").write_text("nothing\n")
    assert main(["lint-text", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("clean; 0 number(s) of 1 file(s)")


@pytest.mark.parametrize("words", [["nothing"], ["a", "--level", "all"], []])
def test_usage(words: list[str]) -> None:
    """Exit 2."""
    assert main(["lint-text", *words]) == 2
