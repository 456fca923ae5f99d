"""All commands: those of the core, and those of the packs, whose table is read only where the core's has no answer."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.cli.core_commands import CORE_COMMANDS, CORE_DOCUMENTS
from kopt_kb.doors.command import Command, JsonDocument
from kopt_kb.doors.entries import entry_points
from kopt_kb.doors.table import PackFault, behind, packs

__all__ = [
    "OFFERS",
    "added_commands",
    "all_commands",
    "all_documents",
    "command_faults",
    "every_command",
    "lacking_pack",
]

OFFERS = "kopt_kb.offers"
"""Entry points whose name is what a pack brings and whose value is the pack: known without the pack's modules."""


def all_commands() -> dict[str, Command]:
    """Return word → command: the core's, then the packs', none of which replaces another."""
    found = dict(CORE_COMMANDS)
    for _, command in behind("commands"):
        if " " not in command.name:
            found.setdefault(command.name, command)
    return found


def added_commands(word: str) -> list[Command]:
    """Return the commands that packs put below a command of the core."""
    found: dict[str, Command] = {}
    for _, command in behind("commands"):
        if command.name.startswith(f"{word} ") and not _has(word, command.name):
            found.setdefault(command.name, command)
    return list(found.values())


def every_command() -> Iterator[tuple[str, Command]]:
    """Yield pack and command, the pack of the core's empty; those that may not be used are left out."""
    for command in CORE_COMMANDS.values():
        yield "", command
    usable = {id(one) for one in all_commands().values()}
    usable |= {id(one) for word in CORE_COMMANDS for one in added_commands(word)}
    yield from ((pack.name, command) for pack, command in behind("commands") if id(command) in usable)


def command_faults() -> list[PackFault]:
    """Return the packs whose commands have a word that is taken: the core's stay, and so do those of the first pack."""
    faults: list[PackFault] = []
    taken = dict.fromkeys(CORE_COMMANDS, "kb itself")
    for pack, command in behind("commands"):
        word = command.name.partition(" ")[0]
        owner = "kb itself" if _has(word, command.name) else taken.setdefault(command.name, f"the pack {pack.name}")
        if owner != f"the pack {pack.name}":
            faults.append(PackFault(pack.name, f"its command {command.name!r} is one of {owner}, which is kept"))
    return faults


def _has(word: str, name: str) -> bool:
    """Return whether a command of the core has a sub-command already."""
    core = CORE_COMMANDS.get(word)
    return core is not None and any(f"{one.words} ".startswith(f"{name} ") for one in core.examples if " " in name)


def lacking_pack(word: str) -> str:
    """Return the pack that would bring a command and is not installed; empty where none is known."""
    usable = packs().usable
    return next((one.value for one in entry_points(group=OFFERS) if one.name == word and one.value not in usable), "")


def all_documents() -> dict[str, JsonDocument]:
    """Return schema id → document: the core's, then those of the packs."""
    found = [one for command in CORE_COMMANDS.values() for one in command.documents] + list(CORE_DOCUMENTS)
    found += [one for _, command in behind("commands") for one in command.documents]
    found += [one for _, one in behind("schemas")]
    return {one.id: one for one in reversed(found)}
