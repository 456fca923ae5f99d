"""Findings as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from kopt_kb.base.wire import JSON

__all__ = ["SarifLevel", "SarifResult", "sarif_run"]

SarifLevel = Literal["error", "warning", "note"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One finding.

    Attributes:
        rule: Its kind, the same word for all of a kind.
        meaning: What that kind means.
        level: How bad it is.
        message: What is wrong here.
        file: Where, as the reader names it.
        line: Line in it; 0 where the file as a whole is meant.
        columns: First column and the one behind the last, from 1; None for the whole line.
    """

    rule: str
    meaning: str
    level: SarifLevel
    message: str
    file: str
    line: int = 0
    columns: tuple[int, int] | None = None


def sarif_run(tool: str, results: Iterable[SarifResult], data: JSON) -> dict[str, JSON]:
    """Return a document of one run.

    Args:
        tool: The command that found them.
        results: What it found.
        data: Version and date of the wiki's data.
    """
    found = tuple(results)
    meanings = {one.rule: one.meaning for one in found}
    rules: list[JSON] = [{"id": rule, "shortDescription": {"text": text}} for rule, text in meanings.items()]
    driver: dict[str, JSON] = {"name": tool, "rules": rules, "properties": {"data": data}}
    listed: list[JSON] = [_listed(one) for one in found]
    run: dict[str, JSON] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": listed}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _listed(result: SarifResult) -> dict[str, JSON]:
    place: dict[str, JSON] = {"artifactLocation": {"uri": _address(result.file)}}
    if result.line:
        columns: dict[str, JSON] = {}
        if result.columns is not None:
            columns = {"startColumn": result.columns[0], "endColumn": result.columns[1]}
        place["region"] = {"startLine": result.line, **columns}
    return {
        "ruleId": result.rule,
        "level": result.level,
        "message": {"text": result.message},
        "locations": [{"physicalLocation": place}],
    }


def _address(file: str) -> str:
    """Return a file as an address: relative to here where it lies below, as hosts want it."""
    path = Path(file)
    here = Path.cwd()
    if path.is_absolute():
        if not path.is_relative_to(here):
            return path.as_uri()
        path = path.relative_to(here)
    return quote(path.as_posix())
