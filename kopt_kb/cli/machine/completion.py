"""Print the completion script of a shell: commands, options and their choices.

kb completion bash > ~/.local/share/bash-completion/completions/kb
kb completion zsh > ~/.zfunc/_kb

The script is static: pressing TAB starts no Python. Write it again after an update.
"""

from __future__ import annotations

import argparse
import importlib

from kopt_kb.base.errors import ExitCode, MissingTool
from kopt_kb.cli.commands import all_commands
from kopt_kb.cli.kit.parser import Parser

__all__ = ["add_arguments", "run", "whole_parser"]

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        fix = "pip install shtab, or kopt-kb with its extra [completion]"
        raise MissingTool("the package shtab is not installed", where="kb completion", fix=fix, code="KB120") from None
    print(shtab.complete(whole_parser(), shell=args.shell))
    return ExitCode.OK


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser of all commands; `kb` itself loads that of one command only."""
    parser = Parser(prog="kb", description="Sourced GPU values, rooflines, profiler verdicts, auditable workspaces.")
    below = parser.add_subparsers(dest="command")
    for name, command in all_commands().items():
        module = importlib.import_module(command.module)
        module.add_arguments(below.add_parser(name, help=command.what, description=command.what))
    return parser
