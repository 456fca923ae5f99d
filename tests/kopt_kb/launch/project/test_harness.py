"""What commands name, and new files that would stand in front of a library, the test tool or a protected module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.harness import changes_harness, named_by_commands, shadow_fault

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


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/csv.py", "standard library's csv"),
        ("src/statistics/__init__.py", "standard library's statistics"),
        ("src/csv.cpython-312-x86_64-linux-gnu.so", "standard library's csv"),
        ("src/pytest.py", "the library pytest"),
        ("src/pluggy.py", "the library pluggy"),
        ("benchmark/argparse.py", "standard library's argparse"),
        ("src/mytool.py", "the library mytool"),
        ("src/tiles.py", ""),
        ("src/csv/rows.py", ""),
        ("ops/csv.py", ""),
        ("src/numbers.txt", ""),
        ("benchmark/bench_gemm/__init__.py", "in front of benchmark/bench_gemm.py"),
    ],
)
def test_what_stands_in_front(read: Read, project_root: Path, path: str, words: str) -> None:
    """Only what Python would import by that name, and only where Python looks first."""
    test = ("{python} tests/check_gemm.py", "{python} -m mytool")
    named = named_by_commands(read(test, ("[project]", '[project]\npython_path = ["src"]')), project_root)
    found = shadow_fault(named, project_root, path)
    assert (words in found) if words else not found


def test_what_the_project_has_already_is_no_news(read: Read, project_root: Path) -> None:
    """A project's own csv module may get files; installed libraries count only when asked for."""
    (project_root / "pluggy").mkdir()
    named = named_by_commands(read(), project_root)
    assert shadow_fault(named, project_root, "pluggy/__init__.py")
    assert not shadow_fault(named, project_root, "pluggy/__init__.py", installed=False)
    (project_root / "pluggy" / "__init__.py").write_text("")
    assert not shadow_fault(named, project_root, "pluggy/__init__.py")


@pytest.mark.parametrize("name", ["conftest.py", ".pytest.ini", "pytest.toml", ".pytest.toml", "x.pth", "setup.cfg"])
def test_names_that_change_how_tests_run(name: str) -> None:
    """Wherever they stand."""
    assert changes_harness(f"ops/{name}") and changes_harness(name)
    assert not changes_harness(f"{name}/x.py")
