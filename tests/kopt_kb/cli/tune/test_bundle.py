"""`kb tune bundle` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

CAMPAIGN = str(Path(__file__).parents[4] / "benchmarks/campaigns/h200_sxm/softmax_2")


def test_a_bundle_is_written_and_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its size, the journal's end and the next command; the audit of it is clean."""
    target = str(tmp_path / "one.kbb")
    assert main(["tune", "bundle", CAMPAIGN, "--output", target]) == 0
    said = capsys.readouterr().out
    assert "journal ends with event 119, 9c6cd3c0" in said and f"verify with: kb audit {target}" in said
    assert main(["audit", target]) == 0
    assert "consistent" in capsys.readouterr().out
    assert main(["audit", CAMPAIGN, "--anchor", target]) == 0
    assert main(["tune", "bundle", CAMPAIGN, "--output", target]) == 2
    assert "exists already" in capsys.readouterr().err


def test_json_is_the_statement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it stands in the file."""
    assert main(["tune", "bundle", CAMPAIGN, "--output", str(tmp_path / "one.kbb"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicateType"] == "urn:kopt-kb:campaign:1"
