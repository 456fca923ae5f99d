"""`kb wiki conflicts` and `kb wiki check DIR` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_conflicts_show_both_sides(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0: a recorded conflict is no fault."""
    assert main(["wiki", "conflicts", "--wiki", str(wiki_root)]) == 0
    out = capsys.readouterr().out
    assert "chosen    2.0  TB/s" in out
    assert "rejected  2.2  TB/s" in out
    assert "a blog before launch" in out


def test_lookup_conflicts_show_both_sides(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reasons."""
    assert main(["lookup", "T10", "--conflicts", "--wiki", str(wiki_root)]) == 0
    out = capsys.readouterr().out
    assert "chosen: the sheet of the shipped part" in out
    assert "rejected: a blog before launch" in out


def test_check_of_another_shape_says_why_per_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, no traceback, nothing guessed."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/cards.md").write_text("# Cards\n\nH100: 989\n")
    assert main(["wiki", "check", str(tmp_path), "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert [fault["file"] for fault in body["faults"]] == [".", "docs/cards.md"]
    assert main(["wiki", "check", str(tmp_path / "missing")]) == 2


def test_a_wiki_is_named_as_everywhere_else_too(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --wiki as well as by a word; two folders that differ are one too many."""
    assert main(["wiki", "check", str(wiki_root)]) in {0, 1}
    named = capsys.readouterr().out
    assert main(["wiki", "check", "--wiki", str(wiki_root)]) in {0, 1}
    assert capsys.readouterr().out == named
    assert main(["wiki", "check", str(wiki_root), "--wiki", str(wiki_root)]) in {0, 1}
    assert main(["wiki", "check", str(wiki_root), "--wiki", str(tmp_path)]) == 2
    assert "two folders" in capsys.readouterr().err
