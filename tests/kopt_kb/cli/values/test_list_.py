"""`kb list` names every product."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.problem.operations import operations
from kopt_kb.problem.ops import OPS


def test_list(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line each; JSON with the count of rows."""
    assert main(["list", "--wiki", str(wiki_root)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["Platform", "T10", "T10_PRO"]
    assert main(["list", "--wiki", str(wiki_root), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["platforms"][0]
    assert (first["platform"], first["arch"], first["target"], first["specs"] > 5) == ("T10", "Testarch", "sm_00", True)


def test_list_of_operations(capsys: pytest.CaptureFixture[str], fits: Callable[[str, object], bool]) -> None:
    """A line each with the words of its dimensions; JSON is what the library returns."""
    assert main(["list", "--ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(OPS) + 1 and any("H heads; S queries" in line for line in lines)
    assert main(["list", "--ops", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert fits("list_ops", printed)
    assert printed["operations"] == json.loads(json.dumps([one.to_json() for one in operations()]))
