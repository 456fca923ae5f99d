"""`kb bench` without a GPU says what is missing; records become pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kopt_kb.base.wire import read
from kopt_kb.cli.main import main

RECORD = Path(__file__).parents[4] / "benchmarks" / "results" / "ceilings_h200_sxm.json"


def test_no_gpu_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    """One line."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if torch.cuda.is_available():
        pytest.skip("a GPU is here")
    assert main(["bench", "bandwidth"]) == 3
    assert "GPU" in capsys.readouterr().err


def test_records_are_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Checked before anything is measured."""
    (tmp_path / "r.json").write_text("{}")
    assert main(["bench", "ceilings", "--record", str(tmp_path / "r.json")]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_run_that_is_cut_short_leaves_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The record is written after each measurement, and says by its empty end that it is not whole."""
    from kopt_kb.launch.kernel import ceilings
    from kopt_kb.launch.kernel.idle import IdleRecord

    launch = IdleRecord("graph", 2e-6, 0.1, 3)

    def records(action: str, *, rounds: int) -> Iterator[ceilings.AnyRecord]:
        yield launch
        raise KeyboardInterrupt

    monkeypatch.setattr(ceilings, "environment", lambda: {"device": "X"})
    monkeypatch.setattr(ceilings, "run_records", records)
    target = tmp_path / "r.json"
    assert main(["bench", "ceilings", "--record", str(target)]) > 0
    made = read(ceilings.CeilingsRun, json.loads(target.read_text()))
    assert (made.launches, made.environment_after) == ((launch,), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json"]
    assert "launch by graph" in capsys.readouterr().err


def test_a_record_of_another_device_is_refused(wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The H200's run is not the T10's."""
    assert (
        main(["bench", "page", str(RECORD), "--platform", "T10", "--wiki", str(wiki_root), "--read", "2026-11-21"]) == 2
    )
    assert "NVIDIA H200" in capsys.readouterr().err


def test_a_file_that_is_no_record(wiki_root: Path, tmp_path: Path) -> None:
    """Exit 2."""
    (tmp_path / "r.json").write_text("no json")
    assert (
        main(["bench", "page", str(tmp_path / "r.json"), "--platform", "T10", "--wiki", str(wiki_root), "--read", "x"])
        == 2
    )


def test_the_text_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a record."""
    from kopt_kb.cli.bench.command import render
    from kopt_kb.launch.kernel.ceilings import CeilingsRun

    text = render(read(CeilingsRun, json.loads(RECORD.read_text())))
    assert text.startswith("NVIDIA H200\n")
    assert "copy 8589934592 B" in text
