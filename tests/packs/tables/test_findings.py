"""Kinds of findings."""

from __future__ import annotations

from typing import get_args

from kopt_kb.packs.tables.findings import KINDS, TableFinding, TableKind, sarif_results


def test_every_kind_has_a_level_and_a_meaning() -> None:
    """And SARIF gets them with key and line."""
    assert set(KINDS) == set(get_args(TableKind))
    one = TableFinding("spills", "a.json", "24 B a thread", 7, "64")
    assert (one.level, one.to_json()["kind"]) == ("warning", "spills")
    (result,) = sarif_results((one,))
    assert (result.rule, result.level, result.line, result.message) == ("spills", "warning", 7, "64: 24 B a thread")
    (whole,) = sarif_results((TableFinding("no-device", "a.json", "names no device"),))
    assert whole.message == "names no device"
