"""`kb profile`: its actions."""

from __future__ import annotations

import pytest

from kopt_kb.cli.main import main


@pytest.mark.parametrize(
    "words", [["profile"], ["profile", "rea", "x"], ["profile", "read"], ["profile", "read", "/none"]]
)
def test_bad_usage(words: list[str]) -> None:
    """No action, an abbreviated one, no file, a file that is not there."""
    assert main(words) == 2
