"""The table of tools: few, of commands that exist, answering with documents that docs/schema has."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kopt_kb.cli.main import COMMANDS
from kopt_kb.cli.mcp.tools import TOOLS
from kopt_kb.cli.mcp.words import _arguments

FORBIDDEN = {
    "proposer",
    "executor_command",
    "search_command",
    "cluster",
    "call",
    "words",
    "command",
    "project",
    "picture",
}
"""Arguments that start other programs, or write where a call does not say."""


def test_the_names_that_agents_know() -> None:
    """Twelve; their commands are there."""
    assert set(TOOLS) == {
        "lookup", "compare", "roofline", "record", "count", "compile", "profile", "verify", "tune", "audit", "lint_text",
        "init",
    }  # fmt: skip
    assert all(tool.command in COMMANDS for tool in TOOLS.values())


def test_their_documents_are_those_of_the_schemas(repo_root: Path) -> None:
    """Each printed with the version of the data."""
    spec = importlib.util.spec_from_file_location("kopt_schemas", repo_root / "tools" / "schemas.py")
    assert spec is not None and spec.loader is not None
    schemas = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(schemas)
    known = {kind for name, kind in schemas.DOCUMENTS.items() if name not in schemas.UNDATED}
    assert {one for tool in TOOLS.values() for one in tool.documents} <= known


@pytest.mark.parametrize("name", TOOLS)
def test_no_argument_starts_other_programs(name: str) -> None:
    """Nor is a path left out of the paths: what a parser calls FILE, DIR, WORKSPACE or REPORT is one."""
    tool = TOOLS[name]
    for action in tool.takes:
        arguments = _arguments(tool, action)
        strange = {given for given, one in arguments.items() if {given, one.dest} & FORBIDDEN and given != "file"}
        assert strange <= ({"words"} if name == "compare" else set())
        named = {
            given for given, one in arguments.items()
            if one.metavar in {"FILE", "DIR", "WORKSPACE", "REPORT", "BASELINE", "PATH"}
        }  # fmt: skip
        assert named <= tool.paths
        assert set(tool.inline) <= tool.paths
