"""`kb wiki new` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_a_new_page_is_written_and_named_by_the_check(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Into the folder that is named; the paths and the way on are printed."""
    words = ["wiki", "new", "H999", "--target", "sm_00", "--into", str(wiki_root)]
    assert main([*words, "--json"]) == 0
    path = wiki_root / "hardware/nvidia/h999.md"
    assert json.loads(capsys.readouterr().out)["paths"] == [str(path)]
    assert main(["wiki", "check", str(wiki_root)]) == 1
    assert "h999.md:18: peak_compute" in capsys.readouterr().out
    assert main(words) == 2
    assert "exists already" in capsys.readouterr().err
    path.unlink()
    assert main(words) == 0
    assert "names what is left" in capsys.readouterr().out
