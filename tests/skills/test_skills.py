"""The skills, the plugin manifest and AGENTS.md: by the rules of their formats, and every command line in them runs."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kopt_kb.cli.commands import all_commands
from kopt_kb.cli.main import main

NAMES = ("kopt-kb-lookup-and-roofline", "kopt-kb-profile-and-verdict", "kopt-kb-tune-loop")
ENDS: dict[str, set[int]] = {
    "kb lookup MI308X memory_bandwidth": {4}, "kb lint-text report.md": {1}, "kb doctor": {0, 1, 3},
}  # fmt: skip
"""Commands whose end is not 0, as the skill says of them."""

FRONT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        "description": {"type": "string", "minLength": 1, "maxLength": 1024},
        "license": {"type": "string"},
        "compatibility": {"type": "string", "minLength": 1, "maxLength": 500},
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
        "allowed-tools": {"type": "string"},
    },
    "required": ["name", "description"],
    "additionalProperties": False,
}
"""Front matter by the Agent Skills specification (agentskills.io)."""

_TEXT = {"type": "string"}
MANIFEST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$schema": {"const": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"},
        "name": {"type": "string", "maxLength": 64, "pattern": r"^(?!.*(--|\.\.))[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},
        **dict.fromkeys(("version", "description", "homepage", "repository", "license"), _TEXT),
        "author": {
            "type": "object", "properties": dict.fromkeys(("name", "email", "url"), _TEXT), "additionalProperties": False,
        },
        "keywords": {"type": "array", "items": _TEXT},
        "extensions": {"type": "object", "additionalProperties": {"type": "object"}},
    },
    "required": ["$schema", "name"],
    "additionalProperties": False,
}  # fmt: skip
SERVERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$schema": {"const": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"},
        "mcpServers": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "type": {"const": "stdio"},
                    "command": {"type": "string", "pattern": r"^(\./)?[^/\s]+$"},
                    "args": {"type": "array", "items": _TEXT},
                    "env": {"type": "object", "additionalProperties": _TEXT},
                    "cwd": {"type": "string", "pattern": r"^(\./|\$\{PLUGIN_ROOT\}(/|$)|\$\{PLUGIN_DATA\}(/|$))"},
                },
                "required": ["type", "command"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["$schema", "mcpServers"],
    "additionalProperties": False,
}
"""Rules of Agent Plugins 1.0.0 (agent-plugins.org), in words of JSON Schema; of servers only those on stdio."""


def _skill(root: Path, name: str) -> tuple[dict[str, Any], str]:
    text = (root / "skills" / name / "SKILL.md").read_text(encoding="utf-8")
    assert text.startswith("---\n")
    front, _, body = text[4:].partition("\n---\n")
    return yaml.safe_load(front), body


def _lines(body: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", body, re.DOTALL)
    return [line[2:] for block in blocks for line in block.split("\n") if line.startswith("$ ")]


def _mentions(text: str) -> Iterator[list[str]]:
    """Yield the words of each `kb …` in a text."""
    for found in re.findall(r"`(kb [^`]+)`", text):
        yield shlex.split(found.replace("…", ""))


@pytest.mark.core
@pytest.mark.parametrize("name", NAMES)
def test_form(repo_root: Path, name: str) -> None:
    """Front matter by the specification, named as its folder, at most 150 lines, ASCII rules for models with a budget."""
    front, body = _skill(repo_root, name)
    jsonschema.validate(front, FRONT)
    assert front["name"] == name and "Use " in front["description"]
    assert len((repo_root / "skills" / name / "SKILL.md").read_text().splitlines()) <= 150
    assert "| Instead of this prose | Run |" in body and len(_lines(body)) >= 5


def test_each_skill_is_listed(repo_root: Path) -> None:
    """Here and in AGENTS.md; its links lead somewhere."""
    assert {path.parent.name for path in repo_root.glob("skills/*/SKILL.md")} == set(NAMES)
    text = (repo_root / "AGENTS.md").read_text()
    assert all(f"skills/{name}/SKILL.md" in text for name in NAMES)
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (repo_root / link).exists(), link


@pytest.fixture
def folder(tmp_path: Path, repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the skills' commands name: reports, a text with a wrong number, a kernel, a plan."""
    report = b"".join((repo_root / "tests/data/zoo/memory.csv").read_bytes().splitlines(keepends=True)[:5])
    for name in ("report.csv", "baseline.csv"):
        (tmp_path / name).write_bytes(report)
    (tmp_path / "report.md").write_text("H20: peak memory bandwidth 4.8 TB/s\n")
    shutil.copy(repo_root / "kernels/rms_norm.py", tmp_path / "kernel.py")
    (tmp_path / "bench.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.core
@pytest.mark.parametrize("name", NAMES)
def test_each_command_runs(repo_root: Path, folder: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """In order, in one folder, with the end that the skill names; the plan is the one it shows."""
    body = _skill(repo_root, name)[1]
    for block in re.findall(r"```json\n(.*?)```", body, re.DOTALL):
        plan = json.loads(block) | {"source": (folder / "kernel.py").read_text()}
        (folder / "plan.json").write_text(json.dumps(plan))
    for line in _lines(body):
        words = shlex.split(line)
        assert words[0] == "kb"
        assert main(words[1:]) in ENDS.get(line, {0}), f"{line}\n{capfd.readouterr().err}"


@pytest.mark.parametrize("name", [*(f"skills/{name}/SKILL.md" for name in NAMES), "AGENTS.md", "docs/agents.md"])
def test_what_is_named_exists(repo_root: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Every command, action and option that stands in the text."""
    for words in _mentions((repo_root / name).read_text()):
        if words[1].isupper():
            continue
        assert words[1] in all_commands(), words
        asked = [word for word in words[2:3] if word.islower() and word.isalpha()]
        for depth in (asked, []):  # an action if there is one
            if main([words[1], *depth, "--help"]) == 0:
                shown = capfd.readouterr().out
                assert all(word.partition("=")[0] in shown for word in words[2:] if word.startswith("--")), words
                break


@pytest.mark.core
def test_manifest(repo_root: Path) -> None:
    """By the rules of the specification, with the version of the package; the server is one that starts."""
    manifest = json.loads((repo_root / "plugin.json").read_text())
    jsonschema.validate(manifest, MANIFEST)
    assert f'\nversion = "{manifest["version"]}"' in (repo_root / "pyproject.toml").read_text()
    servers = json.loads((repo_root / "mcp.json").read_text())
    jsonschema.validate(servers, SERVERS)
    (server,) = servers["mcpServers"].values()
    assert server["args"][0] in all_commands()


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        (FRONT, {"name": "A", "description": "x"}), (FRONT, {"name": "a--b", "description": "x"}), (FRONT, {"name": "a"}),
        (MANIFEST, {"$schema": "x", "name": "a"}), (MANIFEST, {"$schema": MANIFEST["properties"]["$schema"]["const"]}),
        (SERVERS, {"$schema": SERVERS["properties"]["$schema"]["const"], "mcpServers": {"a": {"type": "stdio"}}}),
    ],
)  # fmt: skip
def test_the_rules_find_what_is_wrong(schema: dict[str, Any], wrong: dict[str, Any]) -> None:
    """A rule that nothing breaks would hold nothing."""
    assert not jsonschema.Draft202012Validator(schema).is_valid(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_public_validator_of_skills(repo_root: Path, name: str) -> None:
    """skills-ref, the reference library of the format."""
    from skills_ref import validate

    assert validate(repo_root / "skills" / name) == []


def test_the_public_linter_of_plugins(repo_root: Path, tmp_path: Path) -> None:
    """skillsaw, which knows Agent Plugins 1.0.0, Agent Skills and AGENTS.md; without errors and warnings."""
    if importlib.util.find_spec("skillsaw") is None:
        pytest.skip("needs the package skillsaw")
    shutil.copytree(repo_root / "skills", tmp_path / "skills")
    for name in ("plugin.json", "mcp.json", "AGENTS.md"):
        shutil.copy(repo_root / name, tmp_path / name)
    for link in re.findall(r"\]\(([^)#]+)\)", (repo_root / "AGENTS.md").read_text()):
        (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / link).exists() or (tmp_path / link).touch()
    words = [sys.executable, "-m", "skillsaw", "lint", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and re.search(r"Errors:\s+0", done.stdout), done.stdout
    assert re.search(r"Warnings:\s+0", done.stdout), done.stdout
