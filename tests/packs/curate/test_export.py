"""`kb export peaks`: to stdout, to files, and what is said about the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.curate.peaks.forms import forms


def test_the_help_names_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    """As they are installed."""
    assert main(["export", "peaks", "--help"]) == 0
    assert ", ".join(forms()) in " ".join(capsys.readouterr().out.split())


def test_text_goes_to_stdout_and_the_rest_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """What is left out stands on stderr."""
    assert main(["export", "peaks", "MI355X", "H20", "--for", "geak"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# Hardware peaks")
    assert "left out, GEAK knows gfx targets alone: H20" in err
    assert "UNKNOWN and are left out; gpu-wiki " in err


def test_files_go_where_they_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder for one file a product; the document counts."""
    words = ["export", "peaks", "H100_SXM", "H200_SXM", "--for", "solar", "--output", str(tmp_path / "arch"), "--json"]
    assert main(words) == 0
    body = json.loads(capsys.readouterr().out)
    assert [Path(one).name for one in body["files"]] == ["H100_SXM.yaml", "H200_SXM.yaml"]
    assert body["products"] == 2 and body["data"]["version"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--for", "solar"], "--output"),
        (["H20", "--for", "sqlite"], "--output"),
        (["H20", "--for", "geak"], "GEAK knows gfx targets alone"),
        (["H999", "--for", "csv"], "H999"),
        (["H20", "--for", "yaml"], "yaml"),
        (["H20", "--for", "csv", "--output", "/proc/none/x"], "/proc/none"),
    ],
)
def test_what_cannot_be_written(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and the remedy."""
    assert main(["export", "peaks", *words]) == 2
    assert says in capsys.readouterr().err
