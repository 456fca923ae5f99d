"""The how-to pages are walked: files are written and lines inserted as they say, and their commands run.

`Write PATH:` and `In PATH, below the line that begins with TEXT:` stand before a block; blocks of `sh` are run line by line
in a copy of the checkout. What misleads a newcomer fails here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_WRITE = re.compile(r"Write `(?P<path>[^`]+)`:")
_BELOW = re.compile(r"In `(?P<path>[^`]+)`, below the line that begins with `(?P<anchor>[^`]+)`:")
_BLOCK = re.compile(r"^(?P<pad> *)```(?P<kind>\w+)\n(?P<body>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_COPIED = (
    "kopt_kb", "analysis", "kernels", "gpuwiki", "tests", "tools", "docs", "benchmarks/limiters", "ARCHITECTURE.md",
    "pyproject.toml",
)  # fmt: skip


@pytest.fixture
def checkout(repo_root: Path, tmp_path: Path) -> Path:
    """A copy of the checkout, and a `kb` that runs it."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in _COPIED:
        source = repo_root / name
        if source.is_dir():
            shutil.copytree(source, root / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / name)
    (tmp_path / "bin").mkdir()
    for name, module in (("kb", "kopt_kb"), ("pytest", "pytest"), ("python", "")):
        shim = tmp_path / "bin" / name
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} {"-m" if module else ""} {module} "$@"\n')
        shim.chmod(0o755)
    return root


def _run(line: str, root: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{root.parent / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "KOPT_CACHE": str(root.parent / "cache"),
        "PYTEST_ADDOPTS": "-p no:cacheprovider -n 0",
    }
    done = subprocess.run(["bash", "-c", line], cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}"


def _insert(path: Path, anchor: str, body: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    at = next((at for at, line in enumerate(lines) if line.strip().startswith(anchor)), None)
    assert at is not None, f"{path}: no line begins with {anchor}"
    lines.insert(at + 1, body)
    path.write_text("".join(lines))


def _walk(page: Path, root: Path) -> list[str]:
    """Do what the page says; returns the kinds of steps done, in order."""
    text, steps = page.read_text(), []
    for block in _BLOCK.finditer(text):
        before = text[: block.start()].rstrip().rpartition("\n\n")[2]
        write, below = _WRITE.search(before), _BELOW.search(before)
        if block["kind"] == "sh":
            for line in block["body"].splitlines():
                _run(line, root)
            steps.append("run")
        elif write:
            (root / write["path"]).write_text(block["body"])
            steps.append("write")
        elif below:
            _insert(root / below["path"], below["anchor"], block["body"])
            steps.append("insert")
    return steps


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("add_an_op", {"write": 3, "insert": 2, "run": 3}),
        ("add_a_command", {"write": 2, "insert": 4, "run": 1}),
        ("add_a_rule", {"write": 1, "insert": 9, "run": 1}),
        ("add_a_gpu", {"run": 2}),
    ],
)
def test_a_page_can_be_followed(name: str, least: dict[str, int], repo_root: Path, checkout: Path) -> None:
    """Every step works, the page's own tests and the guards that it names pass, and no step was overlooked."""
    steps = _walk(repo_root / "docs" / "how-to" / f"{name}.md", checkout)
    assert {kind: steps.count(kind) for kind in least} == least


def test_every_page_and_every_guard_is_named_where_people_begin(repo_root: Path) -> None:
    """docs/README.md links each page, CONTRIBUTING.md each guard."""
    index = (repo_root / "docs" / "README.md").read_text()
    pages = [path.relative_to(repo_root / "docs").as_posix() for path in (repo_root / "docs").rglob("*.md")]
    assert not [page for page in pages if page != "README.md" and f"({page})" not in index]
    guards = sorted((repo_root / "tests" / "guards").glob("test_*.py"))
    contributing = (repo_root / "CONTRIBUTING.md").read_text()
    assert not [guard.name for guard in guards if f"`tests/guards/{guard.name}`" not in contributing]
    links = re.findall(r"\]\((?!http)([^)#]+)", contributing)
    assert links
    assert not [link for link in links if not (repo_root / link).exists()]


def test_modules_that_the_map_names_exist(repo_root: Path) -> None:
    """ARCHITECTURE.md is true: each `path.py` in it ends the path of a module."""
    named = set(re.findall(r"`([a-z_/]+\.py)`", (repo_root / "ARCHITECTURE.md").read_text()))
    modules = [
        path.as_posix()
        for folder in ("kopt_kb", "analysis", "kernels", "tests", "benchmarks")
        for path in (repo_root / folder).rglob("*.py")
    ]
    assert len(named) > 20
    assert not [name for name in named if not any(module.endswith(f"/{name}") for module in modules)]
