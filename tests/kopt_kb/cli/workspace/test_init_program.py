"""Claims about `kb init --program`: which call of a program is taken, and what is said where none can be."""

from __future__ import annotations

import pytest

from kopt_kb.cli.main import main
from kopt_kb.cli.workspace import init, init_program
from kopt_kb.launch.problems.program import ProgramCall

FILE = "/home/me/norm.py"
CALLS = [
    ProgramCall(FILE, "norm(x=fp16[8,4])", ("_norm", "_sum"), 2, 3e-6),
    ProgramCall("", "", ("_lost",), 1, 2e-6),
    ProgramCall(FILE, "norm(x=fp16[4,4])", ("_norm",), 1, 1e-6),
    ProgramCall(FILE, "rope(q=fp16[4])", ("_rope",), 1, None),
]
WORDS = ["init", "user", "--platform", "H100_SXM"]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What a workspace would have been made of: kernel demo and call."""
    found: list[tuple[str, str]] = []

    def stop(args, registry):
        found.append((args.kernel_demo, args.call))
        raise KeyboardInterrupt

    monkeypatch.setattr(init, "_task", stop)
    monkeypatch.setattr(init_program, "_CALLS_OF_PROGRAM", lambda *_: (CALLS, "the program ended"))
    return found


@pytest.mark.parametrize(
    ("launch", "call"),
    [("norm", 0), ("_norm", 0), ("3", 2), ("_rope", 3)],
    ids=["function", "kernel", "number", "not counted"],
)
def test_a_launch_is_chosen_by_name_or_number(taken: list[tuple[str, str]], launch: str, call: int) -> None:
    """Of several of a name the longest."""
    main([*WORDS, "--program", "bench.py --rows 4", "--launch", launch])
    assert taken == [(FILE, CALLS[call].call)]


def test_a_program_that_ended_early_is_said_beside_the_call(
    taken: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """What it would have launched behind that is not known."""
    main([*WORDS, "--program", "bench.py", "--launch", "norm"])
    assert taken
    assert "kb: bench.py: the program ended" in capsys.readouterr().err.splitlines()


def test_several_launches_are_listed_by_share(taken: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    """One line each, said to be an estimate; where the program ended early stands beside."""
    assert main([*WORDS, "--program", "bench.py"]) == 2
    said = capsys.readouterr().err
    assert not taken
    rows = [line.split() for line in said.splitlines() if "%" in line or "not counted" in line]
    assert [row[1] for row in rows] == ["50.0%", "33.3%", "16.7%", "not"]
    assert "_norm and 1 more" in said and "an estimate, nothing was measured" in said
    assert "4 calls launch kernels; the program ended; choose one: --launch norm [KB102]" in said


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--program", "bench.py", "--launch", "_lost"], "launched by no function that a call could name"),
        (["--program", "bench.py", "--launch", "nobody"], "no launch 'nobody' among 4"),
        (["--program", "bench.py", "--launch", "0"], "no launch '0' among 4"),
        (["--program", "bench.py", "--launch", "²"], "no launch '²' among 4"),
        (["--program", "bench.py", "--call", "f(fp16[4])"], "--call and --program"),
        (["--program", "bench.py '"], "No closing quotation"),
        (["--program", "train"], "no Python program"),
        (["--launch", "norm"], "--launch without --program"),
    ],
    ids=["nobody's", "unknown", "zero", "superscript", "call", "quote", "no program", "alone"],
)
def test_what_cannot_be_taken_is_refused_in_one_line(
    taken: list[tuple[str, str]], capsys: pytest.CaptureFixture[str], more: list[str], what: str
) -> None:
    """Nothing is recorded or made."""
    assert main([*WORDS, *more]) == 2
    assert what in capsys.readouterr().err.splitlines()[-1]
    assert not taken


def test_many_launches_are_cut(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A list that nobody reads is none."""
    calls = [ProgramCall(FILE, f"f{one}(x={'fp16[4],' * 20})", (f"k{one}",), 1, None) for one in range(20)]
    monkeypatch.setattr(init_program, "_CALLS_OF_PROGRAM", lambda *_: (calls, ""))
    assert main([*WORDS, "--program", "bench.py"]) == 2
    assert "and 8 more" in capsys.readouterr().err


def test_the_platform_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """It decides what is compiled."""
    assert main(["init", "user", "--program", "bench.py"]) == 2
    assert "missing --platform" in capsys.readouterr().err
