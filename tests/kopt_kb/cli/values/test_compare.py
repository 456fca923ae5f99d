"""`kb compare` as a user types it."""

from __future__ import annotations

import json

import pytest

from kopt_kb.cli.main import main


@pytest.mark.core
def test_ratios_only_under_the_same_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    """On the shipped wiki."""
    assert main(["compare", "H100_SXM", "H200_SXM", "sm_count", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["lines"]
    assert next(line for line in lines if line["key"] == "sm_count")["ratios"] == [1.0, 1.0]
    assert main(["compare", "H100_SXM", "MI300X", "peak_compute", "dtype=bf16", "sparsity=dense"]) == 0
    out = capsys.readouterr().out
    assert "conditions that differ" in out and "acc: " in out and "ratio to " in out


@pytest.mark.parametrize(
    "words",
    [
        ["H100_SXM"],
        ["H100_SXM", "H100"],
        ["H100_SXM", "H100_SXM"],
        ["H100_SXM", "H200_SXM", "dtype=bf16"],
        ["H100_SXM", "H200_SXM", "memory_bandwith"],
    ],
)
def test_bad_requests_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    assert main(["compare", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_each_ratio_stands_in_its_product_s_place(capsys: pytest.CaptureFixture[str]) -> None:
    """Of three products the second has no row: its ratio is a dash, not the third one's."""
    words = ["ops_per_clock_per_sm", "dtype=tf32", "engine=matrix"]
    assert main(["compare", "H20", "H100_SXM", "MI300X", *words]) == 0
    assert " -, 2× " in capsys.readouterr().out
