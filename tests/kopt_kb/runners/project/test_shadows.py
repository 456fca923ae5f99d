"""New modules that stand in front of a library, of the test tool or of a protected module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.runners.project.file import ProjectFile
from kopt_kb.runners.project.named import named_by_commands
from kopt_kb.runners.project.shadows import changes_harness, shadow_fault

Read = Callable[..., ProjectFile]


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
