"""Findings as SARIF 2.1.0, which code hosts and editors show beside the line."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import quote

from kopt_kb.wiki.explain import CLASSES
from kopt_kb.wiki.lint.judge import KINDS, TextFinding
from kopt_kb.wiki.lint.lint import TextReport
from kopt_kb.wire import JSON

__all__ = ["sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: TextReport) -> dict[str, JSON]:
    """Return the report as one SARIF run; a rule a kind, and one a class of error for contradictions."""
    used = dict.fromkeys(_rule(one) for one in report.findings)
    rules: list[JSON] = [{"id": rule, "shortDescription": {"text": _meaning(rule)}} for rule in used]
    driver: dict[str, JSON] = {
        "name": "kb lint-text",
        "rules": rules,
        "properties": {"data": report.data.to_json()},
    }
    results: list[JSON] = [_result(one) for one in report.findings]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _rule(one: TextFinding) -> str:
    return f"{one.kind}/{one.class_}" if one.class_ else one.kind


def _meaning(rule: str) -> str:
    kind, _, name = rule.partition("/")
    return f"{KINDS[kind][1]}: {CLASSES[name]}" if name else KINDS[kind][1]


def _result(one: TextFinding) -> dict[str, JSON]:
    end = one.column + len(one.text)
    region: dict[str, JSON] = {"startLine": one.line, "startColumn": one.column, "endColumn": end}
    uri = quote(PurePath(one.path).as_posix())
    return {
        "ruleId": _rule(one),
        "level": one.level,
        "message": {"text": f"{one.message}. {one.says}" if one.says else one.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
    }
