"""The wheel holds exactly the tree, under one top-level name."""

from __future__ import annotations

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


@pytest.mark.network
def test_wheel_equals_tree(repo_root: Path, tmp_path: Path) -> None:
    """Building a copy of the checkout gives a wheel with every module and page, and nothing else."""
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns(".git", ".venv*", "build", "*.egg-info", "__pycache__", ".mypy_cache", "tests")
    shutil.copytree(repo_root, copy, symlinks=True, ignore=ignore)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(tmp_path), str(copy)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert built.returncode == 0, built.stderr[-800:]
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == {"kopt_kb"}
    assert names == _tree(repo_root)
