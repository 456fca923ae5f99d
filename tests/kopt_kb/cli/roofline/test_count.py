"""`kb count` on shipped and own kernels, and on bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")
pytest.importorskip("torch", reason="torch is not installed")

from kopt_kb.analysis.ir.triton.result import Amount
from kopt_kb.cli.main import main
from kopt_kb.cli.roofline import count

pytestmark = pytest.mark.triton


def test_counts(repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """128x1000: 4001 operations a row; bytes once."""
    words = ["count", str(repo_root / "kernels/rms_norm.py"), "--shape", "128x1000", "--dtype", "bf16"]
    assert main([*words, "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert kernel["flops"]["total_useful"]["value"] == 128 * 4001
    assert {"name", "flops", "bytes", "intensity", "exactness"} <= set(kernel)
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "useful operations, fp32 vector" in shown
    assert "\n  32-byte sectors read " in shown


@pytest.mark.parametrize(
    ("amount", "cells"),
    [
        (Amount(1000, "exact"), ("1,000", "exact")), (Amount(1000, "upper"), ("1,000", "upper bound")),
        (Amount(1000, "lower"), ("1,000", "lower bound")), (Amount(None, "unknown"), ("unknown", "unknown")),
    ],
)  # fmt: skip
def test_an_amount_says_on_which_side_it_bounds(amount: Amount, cells: tuple[str, str]) -> None:
    """`upper` alone reads like a place."""
    assert count._cells(amount) == cells


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["none.py", "--shape", "1x2", "--dtype", "bf16"], "none.py"),
        (["FILE"], "nothing says"),
        (["FILE", "--shape", "1x2"], "--dtype"),
        (["FILE", "--shape", "1x2", "--dtype", "bf16", "--arg", "1"], "both"),
        (["FILE", "--arg", "fp16[x]"], "fp16[x]"),
        (["FILE", "--kernel", "none", "--arg", "1"], "no kernel"),
    ],
)
def test_bad_input(words: list[str], says: str, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    file = str(repo_root / "kernels/rms_norm.py")
    assert main(["count", *[file if word == "FILE" else word for word in words]]) == 2
    assert says in capsys.readouterr().err
