"""Tune cuTile kernels.

kb cutile recipes FILE [--profile REPORT]     recipes A to L: why each applies or not, what it changes, where
kb cutile recipes FILE --apply A              write the file with a recipe's edit

Nothing is imported or run. `kb tune run WORKSPACE --policy cutile` tries the recipes one a round.
"""

from __future__ import annotations

import argparse

from kopt_kb.cli.cutile_recipes import add_recipes, run_recipes

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add_recipes(commands.add_parser("recipes", help="which recipes of the loop apply, and why", allow_abbrev=False))


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    actions = {"recipes": run_recipes}
    return actions[args.action](args)
