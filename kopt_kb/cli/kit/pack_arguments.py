"""Arguments that packs add to the core's commands."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import MissingTool
from kopt_kb.doors.table import behind

__all__ = ["add_of_packs", "given_of_packs"]


def add_of_packs(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare what packs add to a command.

    Args:
        parser: Its parser, with its own arguments.
        command: The words behind `kb`.

    Raises:
        MissingTool: A pack's arguments can't be declared: they are taken, or its module is broken.
    """
    for pack, one in behind("arguments"):
        if command not in one.commands:
            continue
        try:
            one.add(parser)
        except Exception as error:  # a stranger's module
            what = f"the pack {pack.name} can't add its arguments: {' '.join(str(error).split())[:200]}"
            fix = f"update the distribution that brings the pack {pack.name}, or remove it"
            raise MissingTool(what, where=f"kb {command}", fix=fix, code="KB124") from error


def given_of_packs(args: argparse.Namespace, command: str) -> argparse.Namespace:
    """Return the arguments that a command runs with: packs may read words of theirs as options of the command."""
    for _, one in behind("arguments"):
        if command in one.commands and one.given is not None:
            args = one.given(args)
    return args
