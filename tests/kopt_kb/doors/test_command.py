"""The door `Command`: what packs and the core declare of their commands."""

from __future__ import annotations

from importlib import import_module

import pytest

from kopt_kb.cli.commands import all_documents, every_command

COMMANDS = [command for _, command in every_command()]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_what_a_command_names_is_there(command) -> None:
    """Its module with both functions, an example, the classes of its documents, its tool and the documents of that."""
    module = import_module(command.module)
    assert callable(module.add_arguments) and callable(module.run)
    assert command.examples and command.what
    assert all(one.words.startswith(command.name) for one in command.examples)
    for one in command.documents:
        place, _, name = one.place.partition(":")
        assert hasattr(import_module(place), name)
    if command.tool is not None:
        assert command.tool.text and set(command.tool.documents) <= set(all_documents())


def test_a_line_of_help_is_short() -> None:
    """It stands beside its word on a terminal."""
    assert max(len(command.what) for command in COMMANDS) < 100
