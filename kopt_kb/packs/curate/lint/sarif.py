"""Findings in texts as SARIF: a rule a kind, and one a class of error for contradictions."""

from __future__ import annotations

from typing import cast

from kopt_kb.base.sarif import SarifLevel, SarifResult, sarif_run
from kopt_kb.base.wire import JSON
from kopt_kb.packs.curate.explain import CLASSES
from kopt_kb.packs.curate.lint.judge import KINDS, TextFinding
from kopt_kb.packs.curate.lint.lint import TextReport

__all__ = ["sarif"]


def sarif(report: TextReport) -> dict[str, JSON]:
    """Return the report as one SARIF run."""
    return sarif_run("kb lint-text", map(_result, report.findings), report.data.to_json())


def _meaning(rule: str) -> str:
    kind, _, name = rule.partition("/")
    return f"{KINDS[kind][1]}: {CLASSES[name]}" if name else KINDS[kind][1]


def _result(finding: TextFinding) -> SarifResult:
    rule = f"{finding.kind}/{finding.class_}" if finding.class_ else finding.kind
    message = f"{finding.message}. {finding.says}" if finding.says else finding.message
    columns = (finding.column, finding.column + len(finding.text))
    return SarifResult(
        rule, _meaning(rule), cast("SarifLevel", finding.level), message, finding.path, finding.line, columns
    )
