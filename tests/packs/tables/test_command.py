"""`kb table`."""

from __future__ import annotations

import argparse

import pytest

from kopt_kb.packs.tables.command import add_arguments


def test_an_action_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    """They are listed."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args([])
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    assert all(f"    {one} " in capsys.readouterr().out for one in ("audit",))
