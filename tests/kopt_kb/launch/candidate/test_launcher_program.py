"""The process that calls a launcher is there before the kernel file, and what it says is read as an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.candidate.launcher_program import LauncherProgram, Otherwise, Said, launcher_program
from kopt_kb.sandbox.talk import Silent

KERNEL = """
import sys
BEFORE = "torch" in sys.modules
def launch(x):
    return x * (2 if BEFORE else 3)
"""


@pytest.mark.torch
def test_it_is_started_before_there_is_a_kernel_file(tmp_path: Path) -> None:
    """The file is imported by the first question, into a process that has torch."""
    import torch

    (tmp_path / "candidate.py").write_text(KERNEL)
    with launcher_program(tmp_path, "cpu") as program:
        assert sorted(one.name for one in program.folder.iterdir()) == ["main.py"]
        program.give(tmp_path / "candidate.py", None)
        torch.save([torch.ones(3)], program.folder / "inputs.pt")
        program.begin("inputs", file="inputs.pt")
        assert program.ended() == Said()
        assert program.timed("run", times=2) > 0.0
        program.ask("save", file="out.pt")
        assert torch.load(program.folder / "out.pt").tolist() == [2.0, 2.0, 2.0]
        folder = program.folder
    assert not folder.exists()


class Told:
    """A conversation in which the process says what it is told to."""

    def __init__(self, line: bytes | Silent, *, takes: bool = True) -> None:
        self._line, self._takes = line, takes

    def say(self, data: bytes, timeout_s: float) -> None:
        """Take it, or be gone."""
        del data, timeout_s
        if not self._takes:
            raise Silent("is gone", gone=True)

    def line(self, most: int, timeout_s: float) -> bytes:
        """Return the line."""
        del most, timeout_s
        if isinstance(self._line, Silent):
            raise self._line
        return self._line


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        (Told(b'{"error": "ValueError: no"}'), "it fails where it is used: ValueError: no"),
        (Told(b'{"calls_s": "long"}'), "its process answers with what is no answer"),
        (Told(b"hello"), "its process answers with what is no answer"),
        (Told(Silent("said nothing for 1 s")), "its process said nothing for 1 s"),
        (Told(b"{}", takes=False), "its process is gone"),
    ],
    ids=["an error", "another type", "no document", "silence", "its end"],
)
def test_what_is_no_answer_is_the_launchers_doing(talk: Any, said: str, tmp_path: Path) -> None:
    """Whatever it does to its own process."""
    with pytest.raises(Otherwise, match=said):
        LauncherProgram(talk, tmp_path, tmp_path / "cage.json").ask("wait")


def test_a_problems_file_that_says_how_candidates_are_called_goes_along(tmp_path: Path) -> None:
    """Beside the kernel file."""
    (tmp_path / "seen").mkdir()
    for name in ("candidate.py", "reference.py"):
        (tmp_path / name).write_text(name)
    talk: Any = Told(b"{}")
    LauncherProgram(talk, tmp_path / "seen", tmp_path / "cage.json").give(
        tmp_path / "candidate.py", tmp_path / "reference.py"
    )
    found = {one.name: one.read_text() for one in (tmp_path / "seen").iterdir()}
    assert found == {"kernel.py": "candidate.py", "problem.py": "reference.py"}
