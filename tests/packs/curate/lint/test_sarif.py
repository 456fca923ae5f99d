"""SARIF: rules, places, levels."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.packs.curate.lint.lint import lint
from kopt_kb.packs.curate.lint.sarif import sarif
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


def test_columns_count_characters(tmp_path: Path) -> None:
    """Two of the characters before the number take two units of UTF-16 or more bytes: the kind of column is said."""
    path = tmp_path / "wide.md"
    path.write_text("\u00e9 \U0001f600 H20: peak memory bandwidth 4.8 TB/s\n", encoding="utf-8")
    (run,) = sarif(lint(Registry.open(), [path]))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startColumn"] == 32
