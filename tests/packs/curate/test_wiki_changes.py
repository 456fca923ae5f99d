"""`kb wiki changes` as a user types it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_what_differs_exits_1(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both sides of a row; nothing where nothing differs."""
    old = shutil.copytree(wiki_root, tmp_path / "old")
    assert main(["wiki", "changes", str(old), str(wiki_root)]) == 0
    page = wiki_root / "targets" / "sm_00.md"
    rows = [line for line in page.read_text().splitlines(keepends=True) if line.startswith("| warp_size")]
    page.write_text(page.read_text().replace(rows[0], ""))
    capsys.readouterr()
    assert main(["wiki", "changes", str(old), str(wiki_root)]) == 1
    out = capsys.readouterr().out
    assert "removed targets/sm_00.md warp_size" in out
    assert "1 key(s) differ" in out
