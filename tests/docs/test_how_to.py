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

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.cuda.nvrtc import nvrtc_version

_WRITE = re.compile(r"Write `(?P<path>[^`]+)`:")
_BELOW = re.compile(r"In `(?P<path>[^`]+)`, below the line that begins with `(?P<anchor>[^`]+)`:")
_BLOCK = re.compile(r"^(?P<pad> *)```(?P<kind>\w+)\n(?P<body>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_COPIED = (
    "kopt_kb", "analysis", "kernels", "gpuwiki", "tests", "tools", "docs", "benchmarks/limiters",
    "benchmarks/campaigns/h200_sxm/gemm", "ARCHITECTURE.md",
    "pyproject.toml",
)  # fmt: skip
_PIP = """
import pathlib, sys, tomllib
folder = pathlib.Path(sys.argv[-1]).resolve()
declared = tomllib.loads((folder / "pyproject.toml").read_text())
project = declared["project"]
info = pathlib.Path(f"{project['name'].replace('-', '_')}-{project['version']}.dist-info")
info.mkdir()
(info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {project['name']}\\nVersion: {project['version']}\\n")
lines = [f"[{group}]\\n" + "".join(f"{name} = {value}\\n" for name, value in entries.items())
         for group, entries in project["entry-points"].items()]
(info / "entry_points.txt").write_text("\\n".join(lines))
for package in folder.iterdir():
    if (package / "__init__.py").is_file():
        pathlib.Path(package.name).symlink_to(package)
for module in declared.get("tool", {}).get("setuptools", {}).get("py-modules", ()):
    pathlib.Path(f"{module}.py").symlink_to(folder / f"{module}.py")
"""
"""What `pip install -e FOLDER` does to a path that is searched, without a build and an index."""


@pytest.fixture
def checkout(repo_root: Path, tmp_path: Path) -> Path:
    """A copy of the checkout, and a `kb` that runs it."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in _COPIED:
        source = repo_root / name
        if source.is_dir():
            shutil.copytree(source, root / name, symlinks=True)  # with its compiled code
        else:
            shutil.copy(source, root / name)
    (tmp_path / "bin").mkdir()
    for name, module in (("kb", "kopt_kb"), ("pytest", "pytest"), ("pip", "pip"), ("python", "")):
        shim = tmp_path / "bin" / name
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} {"-m" if module else ""} {module} "$@"\n')
        shim.chmod(0o755)
    (tmp_path / "bin" / "pip").write_text(f"#!{sys.executable}\n{_PIP}")
    (tmp_path / "bin" / "pip").chmod(0o755)
    return root


def _run(line: str, root: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{root.parent / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'site'}",
        "KOPT_CACHE": str(root.parent / "cache"),
        "PYTEST_ADDOPTS": "-p no:cacheprovider -n 0",
    }
    done = subprocess.run(["bash", "-c", line], cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}"


def _need_nvrtc() -> None:
    """Skip where the compiler is not installed that the page's language goes through."""
    try:
        nvrtc_version()
    except MissingTool as error:
        pytest.skip(f"{error.what}: {error.fix}")


def _insert(path: Path, anchor: str, body: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    at = next((at for at, line in enumerate(lines) if line.strip().startswith(anchor)), None)
    assert at is not None, f"{path}: no line begins with {anchor}"
    lines.insert(at + 1, body)
    path.write_text("".join(lines))


def _walk(page: Path, root: Path) -> tuple[list[str], set[str]]:
    """Do what the page says; returns the kinds of steps done, in order, and the files that were written by hand."""
    text, steps, files = page.read_text(), [], set()
    for block in _BLOCK.finditer(text):
        before = text[: block.start()].rstrip().rpartition("\n\n")[2]
        write, below = _WRITE.search(before), _BELOW.search(before)
        if block["kind"] == "sh":
            for line in block["body"].splitlines():
                _run(line, root)
            steps.append("run")
        elif write:
            (root / write["path"]).parent.mkdir(exist_ok=True)
            (root / write["path"]).write_text(block["body"])
            steps.append("write")
            files.add(write["path"])
        elif below:
            _insert(root / below["path"], below["anchor"], block["body"])
            steps.append("insert")
            files.add(below["path"])
    return steps, files


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "files", "least"),
    [
        ("add_an_op", 4, {"write": 3, "insert": 1, "run": 3}),
        ("add_a_command", 3, {"write": 2, "insert": 1, "run": 1}),
        ("add_a_rule", 5, {"write": 1, "insert": 6, "run": 1}),
        ("add_a_gpu", 0, {"run": 2}),
        ("add_a_reader", 3, {"write": 2, "insert": 2, "run": 1}),
        ("add_a_problem_form", 3, {"write": 2, "insert": 1, "run": 1}),
        ("add_a_table_form", 3, {"write": 2, "insert": 1, "run": 1}),
        ("add_a_pack", 4, {"write": 4, "run": 2}),
        ("add_a_language", 4, {"write": 4, "run": 1}),
    ],
)
def test_a_page_can_be_followed(name: str, files: int, least: dict[str, int], repo_root: Path, checkout: Path) -> None:
    """Every step works, the page's own tests and the guards that it names pass, and no step was overlooked.

    What is added stands in as few files as the page says: a table that has to be told again is no longer one.
    """
    if name == "add_a_language":
        _need_nvrtc()
    steps, written = _walk(repo_root / "docs" / "how-to" / f"{name}.md", checkout)
    assert {kind: steps.count(kind) for kind in least} == least
    assert len(written) == files, written


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
