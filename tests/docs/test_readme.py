"""The README's blocks are run as written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.sheet import row_value

EXPECTED_CODES = {0, 4}


def _blocks(root: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)


def _commands(root: Path) -> list[str]:
    return [line[2:] for block in _blocks(root, "console") for line in block.split("\n") if line.startswith("$ ")]


@pytest.mark.core
def test_console_blocks_run(repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the tour ends with 0 (or 4 where it asks for something UNKNOWN)."""
    monkeypatch.chdir(repo_root)
    commands = _commands(repo_root)
    assert len(commands) >= 8
    for command in commands:
        words = shlex.split(command.replace("/tmp", str(tmp_path)))
        assert words[0] == "kb"
        assert main(words[1:]) in EXPECTED_CODES, command


@pytest.mark.core
def test_the_library_example_runs(repo_root: Path, tmp_path: Path) -> None:
    """From any folder, with the installed package."""
    (code,) = _blocks(repo_root, "python")
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/hardware/nvidia/h20.md:L" in done.stdout
    assert "memory-bound target >= 3.6 TB/s" in done.stdout


@pytest.mark.core
def test_make_targets_exist(repo_root: Path) -> None:
    """The two commands of the README are targets of the Makefile, and CI calls the test command."""
    makefile = (repo_root / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", _blocks(repo_root, "sh")[0], re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert "make test" in (repo_root / ".ci" / "run").read_text()


def test_sources_disagree_as_far_as_the_readme_says(repo_root: Path) -> None:
    """By up to two times on one cell: the widest conflict of the wiki's rows."""
    found: dict[tuple[str, str], set[float]] = {}
    registry = Registry.open()
    for name in registry.platforms():
        for row in registry.platform(name).sheet.rows:
            if row.kind == "value" and (value := float(row_value(row))):
                found.setdefault((name, row.key), set()).add(value)
    widest = max(max(values) / min(values) for values in found.values())
    assert widest == 2 and "disagree by up to two times on one cell" in (repo_root / "README.md").read_text()
