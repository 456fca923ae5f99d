"""`kb roofline --html`: all products and times, UNKNOWN ones too; a kernel file's the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.kopt_kb.base.markup.test_html import Outline
from tests.kopt_kb.tuning.page.test_campaign import Tables, number

Capture = pytest.CaptureFixture[str]


def test_products_side_by_side(tmp_path: Path, capsys: Capture) -> None:
    """Three products with a time each: rows, sections, a picture with a dot of its own rate."""
    page, words = tmp_path / "r.html", tmp_path / "r.md"
    asked = ["--compare", "H20,H100_SXM,MI300X", "--op", "gemm", "--shape", "4096x4096x4096", "--dtype", "bf16"]
    files = ["--html", str(page), "--markdown", str(words)]
    assert main(["roofline", *asked, "--time", "1.1ms,300us,250us", *files]) == 0
    assert capsys.readouterr().out.endswith(
        f"{page}: {page.stat().st_size:,} bytes\n{words}: {words.stat().st_size:,} bytes\n"
    )
    text = page.read_text()
    assert len(text) < 60_000
    found = Tables(text)
    rows = found.tables["Verdicts"][1:]
    assert [row[0] for row in rows] == ["H20", "H100_SXM", "MI300X"]
    assert [number(row[-1]) for row in rows] == [1.1e-3, 3e-4, 2.5e-4]
    drawn = {row[0]: row[2] for row in found.tables["What is drawn"][1:]}
    assert drawn["H20 gemm 4096x4096x4096 measured"].startswith("124.9 TFLOP/s at 1365 FLOP/B")
    assert len(Outline(text).all("svg")) == 1
    assert "| H20 | 4096x4096x4096 | bf16 matrix |" in words.read_text()


def test_an_unknown_roof_has_a_page_without_a_picture(tmp_path: Path, capsys: Capture) -> None:
    """The exit code stays; a picture alone is refused as ever."""
    work = ["--platform", "A100_SXM_80GB", "--flops", "1e12", "--bytes", "1e9", "--dtype", "fp8", "--engine", "vector"]
    page = tmp_path / "u.html"
    code = main(["roofline", *work, "--html", str(page)])
    out = capsys.readouterr()
    if code == 4:
        assert "UNKNOWN" in page.read_text()
        assert "<svg" not in page.read_text()
    else:  # the part lacks it: nothing to show
        assert code == 2
        assert out.err.startswith("kb: ")
        assert not page.exists()


def test_an_existing_file_is_refused_before_anything(tmp_path: Path, capsys: Capture) -> None:
    """Nothing is printed but the refusal."""
    page = tmp_path / "r.html"
    page.write_text("mine")
    assert (
        main(
            [
                "roofline",
                "--platform",
                "H20",
                "--op",
                "softmax",
                "--shape",
                "64x64",
                "--dtype",
                "bf16",
                "--html",
                str(page),
            ]
        )
        == 2
    )
    assert capsys.readouterr().out == ""
    assert page.read_text() == "mine"
