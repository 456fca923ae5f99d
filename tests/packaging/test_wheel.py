"""The wheel holds exactly the tree, under one top-level name."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FOLDERS = {
    "kopt_kb": "kopt_kb",
    "kopt_kb/analysis": "analysis",
    "kopt_kb/kernels": "kernels",
    "kopt_kb/gpuwiki": "gpuwiki",
}


def _tree(root: Path) -> set[str]:
    """Return wheel paths of every file that belongs into the wheel."""
    found = set()
    for name, folder in FOLDERS.items():
        for path in (root / folder).rglob("*"):
            relative = path.relative_to(root / folder).as_posix()
            linked = name == "kopt_kb" and relative.split("/")[0] in {"analysis", "kernels"}
            wanted = (
                path.suffix in {".py", ".cu"}
                or path.name in {"py.typed", "error_causes.txt"}
                or (folder == "gpuwiki" and path.suffix == ".md")
            )
            if path.is_file() and wanted and not linked:
                found.add(f"{name}/{relative}")
    return found


@pytest.fixture(scope="module")
def wheel(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "copy"
    ignore = shutil.ignore_patterns(".git", ".venv*", "build", "*.egg-info", "__pycache__", ".mypy_cache", "tests")
    shutil.copytree(repo_root, copy, symlinks=True, ignore=ignore)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(folder), str(copy)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert built.returncode == 0, built.stderr[-800:]
    return next(folder.glob("*.whl"))


@pytest.mark.network
def test_wheel_equals_tree(repo_root: Path, wheel: Path) -> None:
    """Building a copy of the checkout gives a wheel with every module and page, and nothing else."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == {"kopt_kb"}
    assert names == _tree(repo_root)


CORE = (
    "markdown_it",
    "mdurl",
    "pydantic",
    "pydantic_core",
    "yaml",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
)
"""What the core install brings, by import name."""
_TOUR = """
import json, sys
root, site, commands = sys.argv[1:3] + [json.loads(sys.argv[3])]
sys.path[:] = [one for one in sys.path if "-packages" not in one] + [site]
from kopt_kb.cli.main import main
import kopt_kb
assert kopt_kb.__file__.startswith(site), kopt_kb.__file__
for words in commands:
    code = main(words)
    sys.stdout.flush()
    assert code in (0, 4), (code, words)
"""


@pytest.mark.network
def test_the_tour_runs_from_the_wheel_in_an_empty_environment(repo_root: Path, wheel: Path, tmp_path: Path) -> None:
    """Every command of the README's tour, in an empty folder, with the wheel and the core's packages alone."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    for name in CORE:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        origin = Path(spec.origin)
        (site / (name if origin.name == "__init__.py" else origin.name)).symlink_to(
            origin.parent if origin.name == "__init__.py" else origin
        )
    blocks = re.findall(r"```console\n(.*?)```", (repo_root / "README.md").read_text(), re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.split("\n") if line.startswith("$ ")]
    words = [shlex.split(line.replace("/tmp", str(tmp_path / "parent")))[1:] for line in lines]
    assert len(words) > 20
    (tmp_path / "parent").mkdir()
    (tmp_path / "empty").mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-I", "-S", "-c", _TOUR, str(repo_root), str(site), json.dumps(words)]
    done = subprocess.run(
        command, cwd=tmp_path / "empty", env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-1500:]
