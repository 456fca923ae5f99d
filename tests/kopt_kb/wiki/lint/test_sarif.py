"""SARIF: rules, places, levels."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.wiki.lint.lint import lint
from kopt_kb.wiki.lint.sarif import sarif
from kopt_kb.wiki.registry import Registry


def test_a_finding_is_a_result_of_its_rule(tmp_path: Path) -> None:
    """The place counts from 1, the file is a relative address, the data's version stands beside the tool."""
    path = tmp_path / "a b.md"
    path.write_text("H20: peak memory bandwidth 4.8 TB/s\n")
    body = sarif(lint(Registry.open(), [path]))
    (run,) = body["runs"]
    (result,) = run["results"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert result["ruleId"] == rule["id"] == "contradicts/other-product"
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("a%20b.md")
    assert place["region"] == {"startLine": 1, "startColumn": 28, "endColumn": 36}
    assert run["tool"]["driver"]["properties"]["data"]["version"]
