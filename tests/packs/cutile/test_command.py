"""kb cutile from the shell: checks, logs, causes; exit codes say which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
BAD = str(ROOT / "tests" / "data" / "bad_tiles.py")
LINE = "Cutile: {'forward': {'mean': 3.79, 'median': 3.78, 'nrep': 13}} ms\n"


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    """A packaged kernel on a product, and a file that breaks the rules."""
    assert (
        main(["cutile", "check", str(ROOT / "kernels" / "cutile" / "rms_norm.py"), "--platform", "H100_SXM"])
        == ExitCode.OK
    )
    assert "for cuda-tile" in capsys.readouterr().out
    words = ["cutile", "check", BAD, "--target", "sm_80", "--cuda-tile", "1.4", "--tileiras", "13.2", "--json"]
    assert main(words) == ExitCode.FINDING
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["cuda_tile"], found["tileiras"]) == ("errors", "1.4", "13.2")


def test_read_and_causes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Times with six decimals; the row of an error; exit 1 where nothing is known."""
    log = tmp_path / "log"
    log.write_text(LINE)
    assert main(["cutile", "read", str(log)]) == ExitCode.OK
    words = ["cutile", "read", str(log), "--shape", "64x32"]
    assert main([*words, "--csv", str(tmp_path / "r.csv")]) == ExitCode.OK
    assert (tmp_path / "r.csv").read_text().splitlines()[0] == "shape,check,forward_ms"
    assert (tmp_path / "r.csv").read_text().splitlines()[1].startswith("64x32,PASS,3.79")
    assert main(words) == ExitCode.USAGE
    assert "3.79" in capsys.readouterr().out
    assert main(["cutile", "causes", str(log)]) == ExitCode.FINDING
    log.write_text("mma(): missing a required argument: 'acc'")
    assert main(["cutile", "causes", str(log)]) == ExitCode.OK
    assert "ct.zeros" in capsys.readouterr().out
    assert main(["cutile", "causes", "--json"]) == ExitCode.OK
    assert len(json.loads(capsys.readouterr().out)["causes"]) > 20


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", BAD, "--cuda-tile", "new"], "no version"),
        (["check", BAD, "--platform", "H100_SXM", "--target", "sm_80"], "is sm_90"),
        (["ir", BAD, "--shape", "2x2"], "missing --target"),
        (["read", BAD], "no line of times"),
        (["read", "nothing.log"], "no such file"),
    ],
)
def test_bad_input(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says what to do."""
    assert main(["cutile", *words]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_the_group_names_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word it is bad input that lists them."""
    assert main(["cutile"]) == 2
    assert main(["cutile", "--help"]) == 0
    assert "recipes" in capsys.readouterr().out
