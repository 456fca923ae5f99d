"""A release stops where tag, version and changelog do not fit; its workflow runs commands that exist."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from kopt_kb.cli.machine.completion import whole_parser

CHANGELOG = "# C\n\n## [Unreleased]\n\n- later\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- a\n\n## [0.1.0] - 2026-11-01\n\n## [0.0.1]\n"
PROJECT = '[project]\nname = "x"\nversion = "0.2.0"\n\n[project.scripts]\nkb = "a:b"\n'


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script."""
    path = Path(__file__).parents[2] / "tools" / "release.py"
    spec = importlib.util.spec_from_file_location("release", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_tag_is_the_version_and_has_its_section(tool: ModuleType) -> None:
    """v0.2.0 fits; another tag, and a version without a word, do not."""
    assert tool.check("v0.2.0", PROJECT, CHANGELOG) == "0.2.0"
    assert tool.section(CHANGELOG, "0.2.0") == "### Added\n\n- a"
    with pytest.raises(SystemExit, match=r"tag v0\.2\.0"):
        tool.check("v0.2.1", PROJECT, CHANGELOG)
    for version in ("0.1.0", "0.0.1", "0.3.0", "0.2"):
        with pytest.raises(SystemExit, match="no section"):
            tool.section(CHANGELOG, version)


def test_notes_name_the_data(tool: ModuleType) -> None:
    """A wheel carries one state of the wiki."""
    assert re.search(r"- a\n\nData: gpu-wiki [0-9a-f]{12} of 20\d\d-\d\d-\d\d\n$", tool.notes(CHANGELOG, "0.2.0"))


def test_addresses_are_those_of_the_repository_that_releases(tool: ModuleType, repo_root: Path) -> None:
    """They are written once, into this project's file too; what is no address is refused."""
    written = tool.with_urls((repo_root / "pyproject.toml").read_text(), "https://example.org/owner/kopt-kb/")
    urls = tomllib.loads(written)["project"]["urls"]
    assert urls["Repository"] == "https://example.org/owner/kopt-kb" and urls["Changelog"].endswith("/CHANGELOG.md")
    for wrong in ("http://example.org/a/b", "https://example.org", 'https://example.org/a/b"\nx = "'):
        with pytest.raises(SystemExit, match="no address"):
            tool.with_urls(PROJECT, wrong)
    with pytest.raises(SystemExit, match="already"):
        tool.with_urls(written, "https://example.org/owner/kopt-kb")


@pytest.mark.parametrize("name", ["ci", "release"])
def test_workflows_run_what_exists(name: str, repo_root: Path) -> None:
    """Scripts, targets of make and kb commands of each step; no job has more rights than it names."""
    body = yaml.safe_load((repo_root / ".github/workflows" / f"{name}.yml").read_text())
    assert body["permissions"] == {"contents": "read"}
    makefile = (repo_root / "Makefile").read_text()
    lines = [step["run"] for job in body["jobs"].values() for step in job["steps"] if "run" in step]
    assert len(lines) > 3
    for line in lines:
        words = shlex.split(line)
        if words[:1] == ["make"]:
            assert f"\n{words[1]}:" in makefile, line
        if words[0] == "python" and words[1].endswith(".py"):
            assert (repo_root / words[1]).is_file(), line
        if words[0] == "kb":
            whole_parser().parse_args(words[1:])
        assert "${{" not in line, "what others wrote is never put into a script"
    uses = [step["uses"] for job in body["jobs"].values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w./-]+@(v\d+|release/v\d+)", one) for one in uses)
