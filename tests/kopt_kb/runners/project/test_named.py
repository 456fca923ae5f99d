"""Files, folders and modules that commands name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.runners.project.file import ProjectFile
from kopt_kb.runners.project.named import named_by_commands

Read = Callable[..., ProjectFile]
TEST = "{python} tests/check_gemm.py"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("{python} tests/check_gemm.py", "tests/check_gemm.py"),
        ("{python} -m tests.check_gemm", "tests/check_gemm.py"),
        ("{python} -mtests.check_gemm", "tests/check_gemm.py"),
        ("{python} -m tests", "tests/__init__.py"),
        ("{python} -m tests", "tests/__main__.py"),
        ("{python} run.py --notes=ops/notes.txt", "ops/notes.txt"),
        ("pytest tests/check_gemm.py::test_one", "tests/check_gemm.py"),
        ("pytest tests", "tests/check_gemm.py"),
        ("pytest ./tests/", "tests/deep/other.txt"),
    ],
)
def test_what_a_command_names(read: Read, project_root: Path, line: str, path: str) -> None:
    """By path, by module whether it is there or not, after an option's `=`, and everything below a folder."""
    named = named_by_commands(read((TEST, line)), project_root)
    assert named.covers(path)
    assert not named.covers("ops/gemm.py")


def test_modules_are_looked_for_on_the_python_path(read: Read, project_root: Path) -> None:
    """The project's own folders, those of a variable in front of a command, and the root."""
    project = read(
        (TEST, "PYTHONPATH=lib:/elsewhere {python} -m pytest -m gpu"), ("[project]", '[project]\npython_path = ["src"]')
    )
    named = named_by_commands(project, project_root)
    assert {"src/pytest.py", "lib/pytest/__init__.py", "pytest/__main__.py"} <= named.files
    assert named.looked_in == ("src", "lib", ".", "benchmark")
    assert {"pytest", "gpu"} <= named.modules


def test_outside_paths_and_the_root_itself_are_not_taken(read: Read, project_root: Path) -> None:
    """`.` would protect everything; what lies outside is no file of the project."""
    project = read((TEST, f"tool . ../project/tests /etc/hostname {project_root}/tests/check_gemm.py"))
    named = named_by_commands(project, project_root)
    assert named.files == {"tests/check_gemm.py", "benchmark/bench_gemm.py"}
    assert named.folders == ()
