"""`kb list` names every product."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_list(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line each; JSON with the count of rows."""
    assert main(["list", "--wiki", str(wiki_root)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["Platform", "T10", "T10_PRO"]
    assert main(["list", "--wiki", str(wiki_root), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["platforms"][0]
    assert (first["platform"], first["arch"], first["target"], first["specs"] > 5) == ("T10", "Testarch", "sm_00", True)
