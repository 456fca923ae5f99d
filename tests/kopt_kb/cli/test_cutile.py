"""The group of commands; its words are tested in files of their own."""

from __future__ import annotations

import pytest

from kopt_kb.cli.main import main


def test_the_group_names_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word it is bad input that lists them."""
    assert main(["cutile"]) == 2
    assert main(["cutile", "--help"]) == 0
    assert "recipes" in capsys.readouterr().out
