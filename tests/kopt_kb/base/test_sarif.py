"""Findings as SARIF: rules, places, addresses, in the form of the standard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Log

from kopt_kb.base.sarif import SarifResult, sarif_run


def _run(*results: SarifResult) -> dict[str, Any]:
    body: Any = sarif_run("kb test", results, {"version": "a", "date": "2026-01-01"})
    Log.model_validate(body)
    return body["runs"][0]


def test_results_and_rules() -> None:
    """A rule stands once; columns and lines only where they are known."""
    run = _run(
        SarifResult("one", "What one means", "error", "here", "a b.md", 3, (2, 5)),
        SarifResult("one", "What one means", "error", "there", "c.md", 4),
        SarifResult("two", "What two means", "note", "all of it", "d.md"),
    )
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["one", "two"]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert places[0] == {
        "artifactLocation": {"uri": "a%20b.md"}, "region": {"startLine": 3, "startColumn": 2, "endColumn": 5},
    }  # fmt: skip
    assert places[1]["region"] == {"startLine": 4} and "region" not in places[2]
    assert run["results"][2]["level"] == "note"


def test_nothing_found() -> None:
    """A run with an empty list, so that a host closes what it showed before."""
    assert _run()["results"] == []


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the current folder they are relative, elsewhere whole."""
    monkeypatch.chdir(tmp_path)
    run = _run(
        *(SarifResult("r", "m", "error", "t", str(file)) for file in (tmp_path / "x" / "ü.md", "/elsewhere/y.md"))
    )
    uris = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]]
    assert uris == ["x/%C3%BC.md", "file:///elsewhere/y.md"]


def test_the_validator_refuses_what_is_wrong() -> None:
    """A level, a line and a member that the standard does not have."""
    for change in (
        {"level": "fatal"},
        {"locations": [{"physicalLocation": {"region": {"startLine": 0}}}]},
        {"more": 1},
    ):
        body: Any = sarif_run("kb test", [SarifResult("r", "m", "error", "t", "f", 1)], None)
        body["runs"][0]["results"][0] |= change
        with pytest.raises(ValueError):  # noqa: PT011 - pydantic's own
            Log.model_validate(body)
