"""`kb search` as a user types it."""

from __future__ import annotations

import pytest

from kopt_kb.cli.main import main


@pytest.mark.core
def test_hits_print_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    """On the shipped wiki."""
    assert main(["search", "warp_size", "--arch", "sm_90", "--kind", "target"]) == 0
    assert capsys.readouterr().out.startswith("targets/sm_90.md:")


def test_nothing_found_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    """Never 0 for empty."""
    assert main(["search", "xyzzyplugh"]) == 1
    assert "nothing found" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["bank", "--arch", "blackwell"], ["bank", "--op", "conv"], ["..."], []])
def test_bad_requests_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each, with suggestions."""
    assert main(["search", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
