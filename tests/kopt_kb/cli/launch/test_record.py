"""`kb record` as a user writes it, and its refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main

LAUNCHERS = str(Path(__file__).resolve().parents[4] / "tests" / "data" / "launchers.py")


@pytest.mark.torch
@pytest.mark.triton
def test_record_a_file_for_a_product(
    tmp_path: Path, fits: Callable[[str, object], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    """Text names steps and buffers; JSON is the record; a record that needs the host exits 1."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    words = ["record", LAUNCHERS, "--shape", "1000", "--dtype", "bf16", "--platform", "H100_SXM"]
    assert main([*words, "--out", str(tmp_path / "a")]) == 0
    said = capsys.readouterr().out
    assert "launch add_blocks, grid 4x1x1, block 128x1x1" in said
    assert "out" in said
    assert main([*words, "--config", "HOW=computed", "--out", str(tmp_path / "b"), "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert body["host"] == ["add"]
    assert body["not_replayable"]
    stored = json.loads((tmp_path / "b" / "record.json").read_text())
    assert stored["label"] == body["label"]
    assert fits("launch_record", stored) and not fits("launch_record", {**stored, "surplus": 1})


@pytest.mark.torch
@pytest.mark.triton
def test_record_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments by name."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    words = ["record", "--call", f"{LAUNCHERS}:summed", "--target", "sm_80", "--out", str(tmp_path / "a")]
    assert main([*words, "--arg", "x=fp16[512]", "--arg", "y=fp16[512]"]) == 0
    assert capsys.readouterr().out.count("launch ") == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--out"),
        (["--out", "o"], "--platform and --target"),
        (["--out", "o", "--target", "sm_90"], "FILE or --call"),
        (["f.py", "--out", "o", "--target", "sm_90"], "--shape or --dtype"),
        (["f.py", "--out", "o", "--target", "sm_90", "--arg", "x=1"], "--call"),
        (["--call", "m:f", "--out", "o", "--target", "sm_90", "--shape", "4"], "belong to FILE"),
        (["--call", "m:f", "--out", "o", "--target", "sm_90", "--arg", "4"], "NAME=VALUE"),
        (["--call", "m:f", "--out", "o", "--target", "sm_90", "--arg", "x=bf16[4"], "no kernel argument"),
        (["--call", "m:f", "--out", "o", "--target", "sm_90", "--arg", "x=[1,a]"], "no kernel argument"),
        (["--call", "m:f", "--out", "o", "--target", "sm_90", "--arg", "x=[1"], "no list"),
        (["f.py", "--shape", "4", "--dtype", "bf16", "--out", "o", "--platform", "H100"], "H100_SXM"),
    ],
)
def test_bad_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and one line that says what to do."""
    assert main(["record", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "limit_s"), [((), 60.0), (("--run-s", "5"), 5.0), (("PYTHON",), 0.0)], ids=["CUDA", "asked", "Python"]
)
def test_a_recording_has_a_limit_of_time(
    words: tuple[str, ...], limit_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged CUDA C++ file ends within a minute; a launcher has the maker's own limit."""
    limits: list[float] = []

    def made(_: object, __: Path, wall_s: float) -> None:
        limits.append(wall_s)
        raise BadInput("made nothing", code="KB455")

    monkeypatch.setattr("kopt_kb.cli.launch.record.make_record", made)
    file = tmp_path / "k.cu"
    file.write_text("__global__ void k() {}\n")
    python = "PYTHON" in words
    given = ["record", LAUNCHERS if python else str(file), "--shape", "8", "--dtype", "bf16", "--target", "sm_90"]
    assert main([*given, "--out", str(tmp_path / "o"), *(() if python else words)]) == 2
    assert limits == [limit_s]
    assert main([*given, "--out", str(tmp_path / "o"), "--run-s", "0"]) == 2
    assert limits == [limit_s]
