"""`kb route knowledge` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main


@pytest.mark.core
def test_the_reading_list_is_printed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    """The target's page and its products, and what has no page."""
    assert main(["route", "knowledge", "--op", "gemm", "--arch", "gfx942", "--backend", "flydsl"]) == 0
    out = capsys.readouterr().out
    assert "targets/gfx942.md:1" in out
    assert "hardware/amd/mi300x.md:1" in out
    assert "gfx950" not in out


@pytest.mark.parametrize("words", [[], ["knowledge"], ["knowledge", "--arch", "hopper"], ["nothing"]])
def test_bad_requests_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    assert main(["route", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["write a softmax kernel", "--platform", "H200_SXM"], 0),
        (["generate a CuTe DSL softmax", "--platform", "H200_SXM"], 3),
        (["overlap communication"], 1),
        (["generate a CuTe DSL GEMM", "--platform", "H200_SXM"], 0),
        (["write a softmax kernel", "--job", "4711", "--json"], 0),
    ],
)
def test_a_task_is_answered_with_an_exit_code(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Built in, by a command of the user's, not to be had: each says so."""
    assert main(["route", "task", *words]) == code
    out = capsys.readouterr().out
    assert ("--jobid=4711" in out) == ("--job" in words)
    assert "5 % slower" in out


def test_remote_words_and_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text and as JSON."""
    assert main(["route", "remote", "--ssh", "node7"]) == 0
    assert "before each command: ssh -o BatchMode=yes node7" in capsys.readouterr().out
    file = tmp_path / "gelu.py"
    file.write_text("def launch(x): ...\n")
    assert main(["route", "exports", str(file), "--name", "launch"]) == 0
    assert capsys.readouterr().out == "from gelu import launch as launch_gelu\n"
    assert main(["route", "exports", str(file), "--json"]) == 0
    assert '"launch": "(x)"' in capsys.readouterr().out
    assert main(["route", "remote"]) == 2
