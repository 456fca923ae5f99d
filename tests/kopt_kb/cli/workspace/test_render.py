"""`kb render` writes what changed, or exits 1 with the diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.demo_kernel import DEMO


@pytest.fixture
def folder(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A fresh workspace."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    words = ["--platform", "T10", "--framework", "Triton", "--kernel-demo", str(demo), "--shape", "64x64"]
    assert main(["init", "n", *words, "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    capsys.readouterr()
    return tmp_path / "kernel_opt_n"


def test_render_keeps_an_edit(folder, capsys):
    """Written; up to date; edited and rendered again with the blob named."""
    assert main(["render", str(folder)]) == 0
    assert "wrote logs/optimize.md" in capsys.readouterr().out
    assert main(["render", str(folder)]) == 0
    assert "rendered files are up to date" in capsys.readouterr().out
    log = folder / "logs" / "optimize.md"
    log.write_text(log.read_text() + "mine\n")
    assert main(["render", str(folder)]) == 0
    assert "logs/optimize.md was edited: its bytes are objects/" in capsys.readouterr().out
    assert "mine" not in log.read_text()
    log.write_text(log.read_text() + "mine\n")
    assert main(["render", str(folder), "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["kept"]["logs/optimize.md"]
    assert (folder / "objects" / kept).read_text().endswith("mine\n")


def test_bad_input_is_one_line(folder, tmp_path, capsys):
    """No workspace; no README."""
    assert main(["render", str(tmp_path / "none")]) == 2
    (folder / "README.md").unlink()
    assert main(["render", str(folder)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
