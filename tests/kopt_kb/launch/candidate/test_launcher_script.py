"""The program that calls a launcher: it answers line by line, whatever the kernel file does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.candidate import launcher_script

pytestmark = pytest.mark.torch
KERNEL = """
print("what a kernel file prints is no answer")
def launch(x):
    return x * 2
"""


def answers(folder: Path, kernel: str, *asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Start the program beside a kernel file and return what it answers."""
    (folder / "kernel.py").write_text(kernel)
    shutil.copy(str(launcher_script.__file__), folder / "main.py")
    text = "".join(json.dumps(one) + "\n" for one in asked)
    argv = [sys.executable, str(folder / "main.py"), "cpu"]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_results_are_those_of_the_inputs_that_it_was_given(tmp_path: Path) -> None:
    """Loaded, launched a few times, waited for and written; what fails has its error as the answer."""
    import torch

    torch.save([torch.arange(3.0)], tmp_path / "inputs.pt")
    asked = [
        {"do": "inputs", "file": "inputs.pt"}, {"do": "run", "times": 3}, {"do": "wait"},
        {"do": "save", "file": "out.pt"}, {"do": "inputs", "file": "gone.pt"},
    ]  # fmt: skip
    *done, failed = answers(tmp_path, KERNEL, *asked)
    assert done == [{}] * 4
    assert "gone.pt" in failed["error"]
    assert torch.load(tmp_path / "out.pt").tolist() == [0.0, 2.0, 4.0]


def test_a_file_that_can_not_be_imported_is_an_answer(tmp_path: Path) -> None:
    """To every question, in one line."""
    said = answers(tmp_path, "raise ValueError('no\\nsuch tile')", {"do": "wait"}, {"do": "wait"})
    assert said == [{"error": "ValueError: no such tile"}] * 2
