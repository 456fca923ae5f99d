"""How agents call the core's commands."""

from __future__ import annotations

import pytest

from kopt_kb.cli.core_commands import CORE_COMMANDS
from kopt_kb.cli.kit import agent_tools
from kopt_kb.cli.kit.parser import leaves

SERVED = [command for command in CORE_COMMANDS.values() if command.tool is not None]


def test_each_is_the_tool_of_one_command() -> None:
    """None is left over."""
    assert {command.name.upper() for command in SERVED} == set(agent_tools.__all__)


@pytest.mark.parametrize("command", SERVED, ids=lambda command: command.name)
def test_a_tool_takes_what_its_command_takes(command) -> None:
    """Its actions and arguments are those of the parser; its paths and inline documents are among them."""
    parsers = {leaf.partition(" ")[2]: parser for leaf, parser in leaves(command).items()}
    named = set()
    for action, given in command.tool.takes.items():
        known = {one.dest for one in parsers[action]._actions}
        assert {word.partition("=")[2] or word for word in given} <= known
        named |= {word.partition("=")[0] for word in given}
    assert command.tool.paths <= named and command.tool.inline <= command.tool.paths
    assert set(command.tool.always) <= set(command.tool.takes)
