"""Arguments of packs: which commands of this distribution's packs name."""

from __future__ import annotations

import argparse

from kopt_kb.cli.commands import every_command
from kopt_kb.cli.kit.parser import leaves
from kopt_kb.doors.table import behind


def test_each_names_commands_that_are_there() -> None:
    """Only then does somebody call it; each adds an option at least."""
    words = {leaf for pack, command in every_command() if not pack for leaf in leaves(command)}
    for _, one in behind("arguments"):
        assert one.commands and set(one.commands) <= words
        parser = argparse.ArgumentParser(add_help=False)
        one.add(parser)
        assert parser.format_usage().count("[--")
