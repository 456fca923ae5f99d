"""`kb wiki check`, `index` and `copy` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.doors import table


@pytest.mark.core
def test_the_shipped_wiki_checks_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0, the outcomes of the rules counted apart."""
    assert main(["wiki", "check"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("clean\n")
    assert " not-checkable, " in out


def test_faults_exit_1_and_name_file_and_line(
    wiki_root: Path, product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line a fault, with its code."""
    product.write_text(product.read_text().replace("| 102.4 |", "| ~102.4 |"))
    assert main(["wiki", "check", str(wiki_root)]) == 1
    assert "hardware/nvidia/t10.md:19: '~102.4' is not a plain decimal number" in capsys.readouterr().out


def test_rules_are_listed_on_request(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What could not be checked, and why."""
    main(["wiki", "check", str(wiki_root), "--rules"])
    assert "PHY-LANES" not in capsys.readouterr().out  # derived rows are checked by their formula
    assert main(["wiki", "check", "--rules"]) == 0
    assert "excepted" in capsys.readouterr().out


def test_files_outside_of_the_contract_are_named(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They would be read by nothing."""
    (wiki_root / "notes.txt").write_text("x")
    (wiki_root / "hardware/table.csv").write_text("x")
    assert main(["wiki", "check", str(wiki_root), "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert {fault["file"] for fault in faults if fault["code"] == "WK404"} == {"notes.txt", "hardware/table.csv"}


def test_index_is_written(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the next check misses none."""
    assert main(["wiki", "index", str(wiki_root)]) == 0
    assert "| T10 |" in (wiki_root / "README.md").read_text()
    capsys.readouterr()
    main(["wiki", "check", str(wiki_root), "--json"])
    assert "WK402" not in [fault["code"] for fault in json.loads(capsys.readouterr().out)["faults"]]


def test_copy_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new folder only."""
    assert main(["wiki", "copy", str(tmp_path / "mine"), "--json"]) == 0
    assert (tmp_path / "mine/hardware/nvidia/h20.md").is_file()
    assert main(["wiki", "copy", str(tmp_path / "mine")]) == 2
    assert "exists already" in capsys.readouterr().err


def test_without_packs_pages_are_checked_and_the_rest_is_said(
    wiki_root: Path, product: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grammar, quotes and physics; what pages must answer is not asked, and the report says why."""
    assert main(["wiki", "index", str(wiki_root)]) == 0
    monkeypatch.setattr(table, "packs", lambda: table.Packs({}, ()))
    capsys.readouterr()
    assert main(["wiki", "check", str(wiki_root), "--json"]) == 0
    bare = json.loads(capsys.readouterr().out)
    assert bare["faults"] == []
    assert bare["outcomes"]["pass"] > 10
    assert "need the pack curate, which is not installed" in bare["unchecked"]
    product.write_text(product.read_text().replace("2.0 | TB/s", "200.0 | TB/s").replace("| 2.0 |", "| 200.0 |"))
    assert main(["wiki", "check", str(product)]) == 1
    assert "not checked: " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["diff", "a.csv"], ["site", "--out", "x"], ["new", "H999", "--target=sm_00"]])
def test_an_action_of_an_absent_pack_names_it(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stands behind it; exit code of what is not installed."""
    monkeypatch.setattr(table, "packs", lambda: table.Packs({}, ()))
    assert main(["wiki", *words]) == 3
    assert f"kb wiki {words[0]} needs the pack curate, which is not installed" in capsys.readouterr().err
    assert main(["wiki", "dream"]) == 2
