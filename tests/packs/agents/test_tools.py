"""The table of tools: few, of commands that exist, answering with documents that docs/schema has."""

from __future__ import annotations

import pytest

from kopt_kb.cli.commands import all_commands, all_documents
from kopt_kb.packs.agents.tools import TOOLS
from kopt_kb.packs.agents.words import _arguments

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
    assert all(tool.command in all_commands() for tool in TOOLS.values())


def test_their_documents_are_those_of_the_schemas() -> None:
    """Each printed with the version of the data; what a pack adds to a command is among them."""
    known = {one.place for one in all_documents().values() if not one.undated}
    assert {one for tool in TOOLS.values() for one in tool.documents} <= known
    added = {one.place for one in all_documents().values() if one.command == "audit"}
    assert added and added < set(TOOLS["audit"].documents)


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
