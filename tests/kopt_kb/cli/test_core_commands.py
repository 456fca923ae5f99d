"""The core's table of commands."""

from __future__ import annotations

from kopt_kb.cli.core_commands import CORE_COMMANDS, CORE_DOCUMENTS


def test_words_and_documents_stand_once() -> None:
    """A word is one command, a schema id one document; what is not dated says why."""
    assert all(word == command.name and " " not in word for word, command in CORE_COMMANDS.items())
    ids = [one.id for command in CORE_COMMANDS.values() for one in command.documents]
    ids += [one.id for one in CORE_DOCUMENTS]
    assert len(ids) == len(set(ids))
    assert {one.id for one in CORE_DOCUMENTS if one.undated} > {"problem", "launch_record"}


def test_commands_of_the_core_are_in_its_own_rooms() -> None:
    """None is one of a pack."""
    assert all(command.module.startswith("kopt_kb.cli.") for command in CORE_COMMANDS.values())
