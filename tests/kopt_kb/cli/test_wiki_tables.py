"""`kb wiki conflicts`, `kb wiki diff` and `kb wiki check DIR` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def table(tmp_path: Path, *rows: str) -> str:
    """A foreign table."""
    path = tmp_path / "foreign.csv"
    path.write_text("\n".join(["platform,metric,value,unit,conditions", *rows]) + "\n")
    return str(path)


@pytest.mark.core
def test_diff_names_the_error_class_and_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the shipped wiki, with both places."""
    path = table(tmp_path, "H100_SXM,peak_compute,1979,TFLOPS,dtype=fp16; engine=matrix; sparsity=dense")
    assert main(["wiki", "diff", path]) == 1
    out = capsys.readouterr().out
    assert f"{path}:2: H100_SXM peak_compute" in out
    assert "sparse-as-dense: " in out
    assert "hardware/nvidia/h100_sxm.md:L" in out


def test_diff_of_an_agreeing_table_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What can't be compared is counted, and listed on request."""
    path = table(tmp_path, "H100_SXM,sm_count,132,count,", "H100,sm_count,132,count,")
    assert main(["wiki", "diff", path]) == 0
    assert "1 agrees, 1 not-comparable" in capsys.readouterr().out
    assert main(["wiki", "diff", path, "--all"]) == 0
    assert "not one product" in capsys.readouterr().out
    assert main(["wiki", "diff", path, "--as", "H100=H100_SXM"]) == 0
    assert "2 agrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["missing.csv"], ["missing.csv", "--as", "x"], ["missing.csv", "--as", "x=NOPE"], []]
)
def test_bad_requests_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    assert main(["wiki", "diff", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


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


@pytest.mark.parametrize("command", ["check", "sources"])
def test_a_wiki_is_named_as_everywhere_else_too(
    command: str, wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --wiki as well as by a word; two folders that differ are one too many."""
    assert main(["wiki", command, str(wiki_root)]) in {0, 1}
    named = capsys.readouterr().out
    assert main(["wiki", command, "--wiki", str(wiki_root)]) in {0, 1}
    assert capsys.readouterr().out == named
    assert main(["wiki", command, str(wiki_root), "--wiki", str(wiki_root)]) in {0, 1}
    assert main(["wiki", command, str(wiki_root), "--wiki", str(tmp_path)]) == 2
    assert "two folders" in capsys.readouterr().err


def test_sources_say_how_documents_are_named(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows by the way, and the quotes that carry no word."""
    main(["wiki", "sources", "--wiki", str(wiki_root)])
    out = capsys.readouterr().out
    assert "address     the document was read at its own address" in out
    assert " quotes are numbers and units alone" in out
