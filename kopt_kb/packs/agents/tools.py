"""The tools: which command answers, which of its arguments a call may give, which of them are paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.cli.commands import all_commands, all_documents
from kopt_kb.doors.command import AgentTool, Command

__all__ = ["TOOLS", "ServedTool"]


@dataclass(frozen=True, slots=True)
class ServedTool:
    """One tool.

    Attributes:
        name: As clients call it.
        text: What it answers, for whoever chooses a tool.
        command: The command of kb that answers.
        takes: Action of the command → its arguments that a call may give, each `dest` or `name=dest`; the action is
            empty where the command has none.
        documents: `module:Class` of each document that may come back.
        paths: Arguments that name files or folders.
        inline: Arguments whose document may stand in the call itself instead of a path.
        always: Words that are added.
        writes: Whether it may change files.
    """

    name: str
    text: str
    command: str
    takes: Mapping[str, tuple[str, ...]]
    documents: tuple[str, ...]
    paths: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    always: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    writes: bool = False


def _served(command: Command, tool: AgentTool) -> ServedTool:
    documents = all_documents()
    added = [one.place for one in documents.values() if one.command == command.name]
    places = (*(documents[name].place for name in tool.documents), *added)
    return ServedTool(
        command.name.replace("-", "_"), tool.text, command.name, tool.takes, places, tool.paths, tool.inline,
        tool.always, tool.writes,
    )  # fmt: skip


TOOLS: Mapping[str, ServedTool] = {
    tool.name: tool for tool in (_served(one, one.tool) for one in all_commands().values() if one.tool is not None)
}
"""Name → tool, of every command that says how agents call it."""
