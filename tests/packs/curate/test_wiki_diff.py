"""`kb wiki diff` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def table(tmp_path: Path, *rows: str) -> str:
    """A foreign table."""
    path = tmp_path / "foreign.csv"
    path.write_text("\n".join(["platform,metric,value,unit,conditions", *rows]) + "\n")
    return str(path)


@pytest.mark.core
def test_diff_names_the_error_class_and_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the shipped wiki, with both places."""
    path = table(tmp_path, "H100_SXM,peak_compute,1979,TFLOPS,dtype=fp16; engine=matrix; sparsity=dense")
    assert main(["wiki", "diff", path]) == 1
    out = capsys.readouterr().out
    assert f"{path}:2: H100_SXM peak_compute" in out
    assert "sparse-as-dense: " in out
    assert "hardware/nvidia/h100_sxm.md:L" in out


def test_diff_of_an_agreeing_table_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What can't be compared is counted, and listed on request."""
    path = table(tmp_path, "H100_SXM,sm_count,132,count,", "H100,sm_count,132,count,")
    assert main(["wiki", "diff", path]) == 0
    assert "1 agrees, 1 not-comparable" in capsys.readouterr().out
    assert main(["wiki", "diff", path, "--all"]) == 0
    assert "not one product" in capsys.readouterr().out
    assert main(["wiki", "diff", path, "--as", "H100=H100_SXM"]) == 0
    assert "2 agrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["missing.csv"], ["missing.csv", "--as", "x"], ["missing.csv", "--as", "x=NOPE"], []]
)
def test_bad_requests_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    assert main(["wiki", "diff", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
