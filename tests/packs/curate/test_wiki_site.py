"""`kb wiki site` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_the_site_is_written_and_the_way_in_is_named(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One page a product, and the index; a second time into the same folder is refused."""
    words = ["wiki", "site", "--wiki", str(wiki_root), "--out", str(tmp_path / "site")]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(f"open {tmp_path / 'site' / 'index.html'}\n")
    assert main(words) == 2
    assert "nothing is overwritten" in capsys.readouterr().err


def test_the_files_are_a_document(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --json."""
    assert main(["wiki", "site", "--wiki", str(wiki_root), "--out", str(tmp_path / "site"), "--json"]) == 0
    paths = json.loads(capsys.readouterr().out)["paths"]
    assert all(Path(path).is_file() for path in paths)
    assert str(tmp_path / "site" / "products" / "t10.html") in paths
