"""kb cutile recipes: what each says, an edit written, bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

NAIVE = Path(__file__).parents[2] / "packs" / "cutile" / "source" / "naive_kernels.py"


def test_all_twelve_in_the_order_of_the_report(repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A memory-bound report puts loads first; without one a product counts as compute-bound."""
    report = str(repo_root / "tests/data/zoo/memory.csv")
    assert main(["cutile", "recipes", str(NAIVE), "--profile", report, "--target", "sm_90", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "".join(one["recipe"] for one in found["recipes"]) == "ABCFGEHDIJKL"
    assert (found["limiter"], found["recipes"][0]["how"], found["written"]) == ("spill", "edit", "")
    assert main(["cutile", "recipes", str(NAIVE)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("D TF32 products (about 2x by its source): the type of the operands is not known")
    assert any(line.startswith("  can edit: ") and ":2" in line for line in lines)


def test_an_edit_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the file, or where --output says; an existing file stays; a recipe without an edit is exit 1."""
    file = tmp_path / "k.py"
    shutil.copy(NAIVE, file)
    assert main(["cutile", "recipes", str(file), "--apply", "a"]) == 0
    assert "ct.load(x, (row, 0), (1, TILE_COLS)" in (tmp_path / "k_A.py").read_text()
    assert f"written: {tmp_path / 'k_A.py'}" in capsys.readouterr().out
    assert main(["cutile", "recipes", str(file), "--apply", "A"]) == 2
    assert main(["cutile", "recipes", str(file), "--apply", "J"]) == 1
    assert main(["cutile", "recipes", str(file), "--apply", "Z"]) == 2
    assert "one of A, B" in capsys.readouterr().err
    assert main(["cutile", "recipes", str(tmp_path)]) == 2
    (tmp_path / "none.py").write_text("x = 1\n")
    assert main(["cutile", "recipes", str(tmp_path / "none.py")]) == 2
    assert "no cuTile kernel" in capsys.readouterr().err
