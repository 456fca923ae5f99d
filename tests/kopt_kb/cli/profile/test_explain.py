"""`kb profile explain`."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.rules.table import LIMITERS, RULES
from kopt_kb.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("code", [*(rule.code for rule in RULES), "tail", "BN-DRAM", "bn-fp32"])
def test_codes_and_limiters(code: str, capsys: Capture) -> None:
    """Every code, any limiter, in any case."""
    assert main(["profile", "explain", code]) == 0
    out = capsys.readouterr().out
    if code != "BN-COMMUNICATION":  # told by its name alone
        assert "threshold: " in out
        assert "counters/nvidia_thresholds.md:" in out


def test_json_names_sources(capsys: Capture) -> None:
    """A threshold with value, unit, row and source."""
    assert main(["profile", "explain", "BN-DIVERGENCE", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    row = next(one for one in body["thresholds"] if one["metric"] == "threads_per_instruction")
    assert (row["op"], row["value"], row["unit"]) == ("<", 24.0, "1")
    assert row["source"].startswith("Nsight Compute rule ThreadDivergence, ")
    assert [one["class"] for one in body["limiters"]] == [LIMITERS["divergence"]]


def test_unknown_codes_get_suggestions(capsys: Capture) -> None:
    """Exit 2 with near words."""
    assert main(["profile", "explain", "tial"]) == 2
    assert "tail" in capsys.readouterr().err
