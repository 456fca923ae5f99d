"""`kb wiki sources` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_sources_say_how_documents_are_named(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows by the way, and the quotes that carry no word."""
    main(["wiki", "sources", "--wiki", str(wiki_root)])
    out = capsys.readouterr().out
    assert "address     the document was read at its own address" in out
    assert " quotes are numbers and units alone" in out


def test_labels_are_read_in_documents(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without them there is nothing to propose from."""
    assert main(["wiki", "sources", "--wiki", str(wiki_root), "--labels"]) == 2
    assert "--documents" in capsys.readouterr().err


def test_the_record_is_written_where_it_is_accepted(wiki_root: Path) -> None:
    """And nowhere else."""
    main(["wiki", "sources", str(wiki_root)])
    assert not (wiki_root / "SOURCES.md").exists()
    main(["wiki", "sources", str(wiki_root), "--accept"])
    assert (wiki_root / "SOURCES.md").read_text().startswith("# Sources read again")


def test_a_wiki_is_named_as_everywhere_else_too(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --wiki as well as by a word; two folders that differ are one too many."""
    assert main(["wiki", "sources", str(wiki_root)]) in {0, 1}
    named = capsys.readouterr().out
    assert main(["wiki", "sources", "--wiki", str(wiki_root)]) in {0, 1}
    assert capsys.readouterr().out == named
    assert main(["wiki", "sources", str(wiki_root), "--wiki", str(wiki_root)]) in {0, 1}
    assert main(["wiki", "sources", str(wiki_root), "--wiki", str(tmp_path)]) == 2
    assert "two folders" in capsys.readouterr().err
