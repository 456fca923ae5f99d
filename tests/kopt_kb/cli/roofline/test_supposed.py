"""`kb roofline --what-if`: what a product would allow if a value were another, and that nothing rests on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

WORDS = ["roofline", "--platform", "T10", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16"]
DOUBLE = ["--what-if", "memory_bandwidth=2"]


@pytest.fixture(autouse=True)
def wiki(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The invented wiki by environment variable."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(wiki_root))


def test_text_has_both_times_the_row_and_that_it_is_supposed(capsys: pytest.CaptureFixture[str]) -> None:
    """134 MB at 2 and at 4 TB/s, by hand 67.11 and 33.56 us; no target is printed."""
    assert main([*WORDS, *DOUBLE]) == 0
    out = capsys.readouterr().out
    for text in ("67.11 us", "33.56 us", "speedup 2×", "memory_bandwidth  2.0 TB/s -> 4 TB/s", "no Stop Condition"):
        assert text in out
    assert "Verdict" not in out and "t10.md:L" in out


def test_json_has_one_roofline_a_product_and_shape(
    capsys: pytest.CaptureFixture[str], fits: Callable[[str, object], bool]
) -> None:
    """Fitting its schema; several factors together."""
    more = ["--shape", "4096x4096", "--what-if", "peak_compute[dtype=fp32;engine=vector;sparsity=dense]=0.5"]
    assert main([*WORDS, *DOUBLE, *more, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert fits("supposed_rooflines", said)
    assert [one["speedup"] for one in said["rooflines"]] == [2.0, 2.0]
    assert [one["factor"] for one in said["rooflines"][0]["changes"]] == [2.0, 0.5]


def test_an_unknown_roof_leaves_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 4, as without a supposition."""
    gemm = ["roofline", "--platform", "T10", "--op", "gemm", "--shape", "64x64x64", "--dtype", "bf16", *DOUBLE]
    assert main(gemm) == 4
    assert "UNKNOWN" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--what-if", "memory_bandwidth"], 2, "METRIC=FACTOR"),
        (["--what-if", "memory_bandwidth=fast"], 2, "METRIC=FACTOR"),
        (["--what-if", "memory_bandwidth=0"], 2, "above 0"),
        (["--what-if", "memory_bandwidth=-1"], 2, "above 0"),
        (["--what-if", "memory_bandwidth=inf"], 2, "above 0"),
        (["--what-if", "memory_bandwith=2"], 2, "memory_bandwith"),
        (["--what-if", "memory_bandwidth=2", "--what-if", "memory_bandwidth=3"], 2, "twice"),
        ([*DOUBLE, "--time", "52us"], 2, "--time"),
        ([*DOUBLE, "--plot"], 2, "--plot"),
        ([*DOUBLE, "--picture", "x.svg"], 2, "--picture"),
        ([*DOUBLE, "--min-grade", "vendor"], 2, "--min-grade"),
    ],
    ids=["no factor", "no number", "zero", "negative", "infinite", "misspelt", "twice", "a time", "a plot", "a picture",
         "a grade"],
)  # fmt: skip
def test_what_can_not_be_supposed_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], status: int, said: str
) -> None:
    """A factor that is none, and what would judge or draw a supposition."""
    assert main([*WORDS, *words]) == status
    assert said in capsys.readouterr().err
    assert not Path("x.svg").exists()


def test_a_kernel_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its report is of compiled code on a product that is there."""
    (tmp_path / "k.py").write_text("x = 1\n")
    assert main(["roofline", str(tmp_path / "k.py"), "--platform", "T10", *DOUBLE]) == 2
    assert "--what-if" in capsys.readouterr().err
