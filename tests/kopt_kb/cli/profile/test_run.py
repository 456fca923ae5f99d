"""`kb profile run` without a GPU: dry runs, missing tools, and a stand-in for ncu."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

ZOO = Path(__file__).resolve().parents[3] / "data" / "zoo"
Capture = pytest.CaptureFixture[str]


def test_dry_run_prints_the_commands(capsys: Capture) -> None:
    """What would run, quoted for a shell; nothing is created."""
    assert main(["profile", "run", "--dry-run", "--tool", "ncu", "--kernel", "a b", "--", "./x", "-n", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ncu --set full --clock-control none")
    assert lines[0].endswith("--kernel-name 'regex:a b' ./x -n 3")
    assert lines[1].endswith("> profile/profile.csv")
    assert not Path("profile").exists()


def test_dry_run_json(capsys: Capture) -> None:
    """Tool, steps and reports on one document."""
    words = ["profile", "run", "--dry-run", "--tool", "rocprofv3", "--steps", "asm,att", "--json", "--", "./x"]
    assert main(words) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["tool"], [one["name"] for one in body["steps"]]) == ("rocprofv3", ["asm", "att"])


def test_a_missing_profiler_is_exit_3(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Neither tool on the PATH."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["profile", "run", "--", "./x"]) == 3
    assert "neither ncu nor rocprofv3 is not installed" in capsys.readouterr().err


def test_a_run_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A stand-in that exports a recording: its kernels get verdicts."""
    (tmp_path / "ncu").write_text(f'#!/bin/sh\ncase "$*" in *--import*) cat {ZOO}/compute.csv;; esac\n')
    (tmp_path / "ncu").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    words = ["profile", "run", "--output", str(tmp_path / "out"), "--kernel", "fp64_fma"]
    assert main([*words, "--json", "--", "./x"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [one["verdict"]["limiter"] for one in body["kernels"]] == ["fp64"]
    assert main([*words, "--", "./x"]) == 0
    assert "Primary bottleneck: compute-bound" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--steps", "magic", "--", "./x"], ["--set", "all", "--", "./x"]])
def test_bad_usage(words: list[str]) -> None:
    """Steps of the other tool, an unknown set; without --dry-run a run needs its command."""
    assert main(["profile", "run", "--dry-run", "--tool", "ncu", *words]) == 2


def test_a_dry_run_needs_no_profiler_and_says_what_it_costs(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Nothing on the PATH: ncu's commands, or those of rocprofv3 for an AMD target, with the number of runs."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["profile", "run", "--dry-run", "--", "./x"]) == 0
    assert "# the program runs once" in capsys.readouterr().out
    assert main(["profile", "run", "--dry-run", "--target", "gfx942", "--", "./x"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"# the program runs {len(lines) - 1} times")
