"""`kb roofline` prints definitions, roofs, verdict and citations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

BASE = ["roofline", "--platform", "T10"]


@pytest.fixture(autouse=True)
def wiki(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The invented wiki by environment variable."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(wiki_root))


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Both definitions, both targets, all citations."""
    assert main([*BASE, "--op", "rmsnorm", "--shape", "8192x4096", "--dtype", "bf16"]) == 0
    out = capsys.readouterr().out
    for text in (
        "useful operations, fp32 vector",
        "compulsory bytes, dram read",
        "flops: a row of N",
        "bytes: x once",
        "memory-bound target >= 1.8 TB/s",
        "compute-bound target >= 23.04 TFLOPS",
        "memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/",
    ):
        assert text in out


def test_several_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    """One roofline each; JSON as a list."""
    words = [*BASE, "--op", "softmax", "--shape", "64x64", "--shape", "128x128", "--dtype", "fp16"]
    assert main(words) == 0
    assert capsys.readouterr().out.count("Verdict") == 2
    assert main([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rooflines"]) == 2


def test_unknown_exits_4_and_grade_refusal_1(capsys: pytest.CaptureFixture[str], wiki_root: Path) -> None:
    """UNKNOWN roof, weak roof."""
    assert main([*BASE, "--op", "gemm", "--shape", "64x64x64", "--dtype", "bf16"]) == 4
    assert "UNKNOWN" in capsys.readouterr().out
    page = wiki_root / "hardware" / "nvidia" / "t10.md"
    page.write_text(page.read_text().replace("| 2.0 | TB/s | - | vendor", "| 2.0 | TB/s | - | secondary"))
    assert main([*BASE, "--op", "softmax", "--shape", "64x64", "--dtype", "fp16", "--min-grade", "vendor"]) == 1
    assert main([*BASE, "--op", "softmax", "--shape", "64x64", "--dtype", "fp16", "--min-grade", "best"]) == 2


OP = ["--op", "rmsnorm", "--shape", "8192x4096", "--dtype", "bf16"]


def test_times_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    """In text and JSON; several for one roofline, one each for several."""
    assert main([*BASE, *OP, "--time", "100us,0.2 ms"]) == 0
    out = capsys.readouterr().out
    assert "measured    100 us" in out and "measured    200 us" in out
    both = ["roofline", "--compare", "T10,T10_PRO", *OP]
    assert main([*both, "--time", "100us", "--time", "90us", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rooflines"]
    assert [one["times"]["measured"][0]["seconds"] for one in found] == [1e-4, 9e-5]
    assert main([*both, "--time", "100us"]) == 2
    assert "give one each, in order: T10 8192x4096, T10_PRO 8192x4096" in capsys.readouterr().err
    assert main([*both]) == 0
    assert len([one for one in capsys.readouterr().out.split("\n") if one.startswith("T10")]) == 2


@pytest.mark.parametrize("text", ["52", "0us", "-1us", "us", "1e3us", "52 hours", "nanus"])
def test_what_is_no_time(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A number without its unit is none."""
    assert main([*BASE, *OP, f"--time={text}"]) == 2
    assert "[KB105]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*OP, "--profile", "nowhere.csv"], "--profile is not used here"),
        ([*OP, "--grid", "4", "--kernel", "k"], "--kernel, --grid are not used here"),
        (
            ["--flops", "1", "--bytes", "1", "--dtype", "fp32", "--engine", "vector", "--option", "a=b"],
            "--option is not used",
        ),
        ([*OP, "--plot", "--json"], "--json prints one document, and --plot draws"),
        (["op:rms_norm", "--time", "1us"], "--time is not used here"),
        (["--flops", "1e12", "--bytes", "4e8", "--dtype", "bf16"], "for example --flops 1.1e12 --bytes 4e8"),
    ],
)
def test_no_option_is_ignored_without_a_word(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What another kind of work uses is refused."""
    assert main([*BASE, *words]) == 2
    assert says in capsys.readouterr().err


def test_a_product_where_a_file_stands_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """`kb lookup H20` takes one there; the way out is one word."""
    assert main(["roofline", "T10", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16", "--time", "5us"]) == 2
    assert "T10 is a product (T10), not a kernel file; --platform T10 [KB103]" in capsys.readouterr().err


def test_a_time_between_floor_and_roof_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 us of an fp32 product are no error on an H100; 60 us are. The floor stands beside roof and target."""
    monkeypatch.delenv("KOPT_GPU_WIKI")
    words = ["roofline", "--platform", "H100_SXM", "--op", "gemm", "--shape", "4096x4096x4096", "--dtype", "fp32"]
    assert main([*words, "--time", "400us"]) == 0
    said = capsys.readouterr().out
    assert "floor       147.4 us" in said and "above the floor: other arithmetic ran" in said
    assert main([*words, "--time", "60us"]) == 0
    assert "nothing is faster than that" in capsys.readouterr().out
