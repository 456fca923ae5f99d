"""--format sarif of lint-text, audit and profile diff: valid by the standard, with the findings of the text."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Log

from kopt_kb.cli.main import main


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, repo_root: Path) -> Path:
    """A text with a wrong number, a workspace with a changed digit, two reports of which one has a slower kernel."""
    tmp_path = tmp_path_factory.mktemp("sarif")
    (tmp_path / "wrong.md").write_text("H20: peak memory bandwidth 4.8 TB/s\n")
    (tmp_path / "log.md").write_text(
        "| round | latency ms | speedup | decision |\n|---|---|---|---|\n| 1 | 2.0 | 1.5x | accept |\n"
    )
    words = ["init", "norm", "--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16"]
    assert main([*words, "--parent", str(tmp_path)]) == 0
    readme = tmp_path / "kernel_opt_norm" / "README.md"
    text = readme.read_text()
    assert "target >= 3" in text
    readme.write_text(text.replace("target >= 3", "target >= 2", 1))
    rows = list(csv.reader((repo_root / "tests/data/zoo/latency.csv").read_text().splitlines()))[:6]
    at = rows[0].index("gpu__time_duration.sum")
    for name, factor in (("before.csv", 1.0), ("after.csv", 1.2)):
        with (tmp_path / name).open("w", newline="") as file:
            changed = [
                [*row[:at], f"{float(row[at].replace(',', '')) * factor:.1f}", *row[at + 1 :]] for row in rows[2:3]
            ]
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([*rows[:2], *changed, *rows[3:]])
    return tmp_path


@pytest.fixture
def here(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder, to be in."""
    monkeypatch.chdir(prepared)
    return prepared


CASES: dict[str, tuple[int, list[str]]] = {
    "lint": (1, ["lint-text", "wrong.md"]),
    "audit": (1, ["audit", "kernel_opt_norm"]),
    "foreign": (1, ["audit", "log.md"]),
    "slower": (1, ["profile", "diff", "before.csv", "after.csv", "--threshold", "5"]),
    "equal": (0, ["profile", "diff", "before.csv", "before.csv", "--threshold", "5"]),
}


def _run(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    code, words = CASES[name]
    assert main([*words, "--format", "sarif"]) == code
    body: dict[str, Any] = json.loads(capsys.readouterr().out)
    Log.model_validate(body)
    schema = os.environ.get("KOPT_SARIF_SCHEMA")  # the standard's own file, where one is at hand
    if schema:
        jsonschema.validate(body, json.loads(Path(schema).read_text()))
    return body["runs"][0]


def _places(run: dict[str, Any]) -> list[tuple[str, str, int]]:
    found = [(one["ruleId"], one["locations"][0]["physicalLocation"]) for one in run["results"]]
    return [(rule, at["artifactLocation"]["uri"], at.get("region", {}).get("startLine", 0)) for rule, at in found]


@pytest.mark.parametrize("name", CASES)
def test_valid_and_the_same_findings(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As many errors as the JSON document has findings; the data's version stands in it."""
    run = _run(name, capsys)
    words = CASES[name][1]
    main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    findings = document["slower"] if "slower" in document else document["findings"]
    assert sum(one["level"] != "note" for one in run["results"]) == len(findings)
    assert run["tool"]["driver"]["properties"]["data"]["version"] == document["data"]["version"]


def test_places(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Relative to the current folder; a line where there is one."""
    assert _places(_run("lint", capsys)) == [("contradicts/other-product", "wrong.md", 1)]
    files = {(uri, line > 0) for _, uri, line in _places(_run("audit", capsys)) if uri.endswith("README.md")}
    assert files == {("kernel_opt_norm/README.md", True)}
    assert {uri for _, uri, _ in _places(_run("foreign", capsys))} == {"log.md"}
    assert _places(_run("slower", capsys)) == [("slower", "after.csv", 0)]


def test_json_by_either_word(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json and --format json print one document."""
    for words in (CASES["lint"][1], CASES["audit"][1], CASES["slower"][1]):
        shown = []
        for form in (["--json"], ["--format", "json"]):
            assert main([*words, *form]) == 1
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]
