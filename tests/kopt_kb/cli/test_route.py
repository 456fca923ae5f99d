"""`kb route knowledge` as a user types it."""

from __future__ import annotations

import pytest

from kopt_kb.cli.main import main


@pytest.mark.core
def test_the_reading_list_is_printed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    """The target's page and its products, and what has no page."""
    assert main(["route", "knowledge", "--op", "gemm", "--arch", "gfx942", "--backend", "flydsl"]) == 0
    out = capsys.readouterr().out
    assert "targets/gfx942.md:1" in out
    assert "hardware/amd/mi300x.md:1" in out
    assert "gfx950" not in out


@pytest.mark.parametrize("words", [[], ["knowledge"], ["knowledge", "--arch", "hopper"], ["nothing"]])
def test_bad_requests_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    assert main(["route", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
