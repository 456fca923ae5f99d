"""`--html` and `--markdown`: new files or a refusal, before anything is computed."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.page_output import add_report, check_report, made_by, save_report


def asked(*words: str) -> argparse.Namespace:
    """The options of a command line."""
    parser = argparse.ArgumentParser()
    add_report(parser)
    return parser.parse_args(words)


def test_both_are_written_and_their_sizes_said(tmp_path: Path) -> None:
    """Only what was asked for is made."""
    html, markdown = str(tmp_path / "a.html"), str(tmp_path / "a.md")
    args = asked("--html", html, "--markdown", markdown)
    check_report(args)
    assert save_report(args, lambda: b"x" * 1234, lambda: "é") == [f"{html}: 1,234 bytes", f"{markdown}: 2 bytes"]
    assert Path(markdown).read_text() == "é"
    assert save_report(asked(), pytest.fail, pytest.fail) == []
    assert made_by().startswith("kopt-kb ")


def test_one_file_can_not_be_both(tmp_path: Path) -> None:
    """Nor can a file that is there, by whatever name."""
    path = tmp_path / "a"
    with pytest.raises(BadInput, match="would be one"):
        check_report(asked("--html", str(path), "--markdown", str(tmp_path / "." / "a")))
    with pytest.raises(BadInput, match="would be one"):
        check_report(asked("--html", str(tmp_path / "a.html")), str(tmp_path / "a.html"))
    with pytest.raises(BadInput, match="no picture of kind"):
        check_report(asked(), str(path))
    path.write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        check_report(asked("--markdown", str(path)))
    with pytest.raises(BadInput, match="empty"):
        check_report(asked("--html", ""))
