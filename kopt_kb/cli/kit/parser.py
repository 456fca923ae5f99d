"""The argument parser of `kb`: no abbreviations, and errors that say what was meant."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from kopt_kb.base.errors import BadInput

if TYPE_CHECKING:
    from kopt_kb.doors.command import Command

__all__ = ["Parser", "add_sub_commands", "command_parser", "leaves"]

vars(argparse)["_"] = str
"""argparse asks gettext for each of its words, which loads locale and looks for files that no distribution has."""


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations that raises `BadInput` instead of leaving the process."""

    _is_declaring = False

    def __init__(self, **options: object) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)  # type: ignore[arg-type]

    def _get_formatter(self) -> argparse.HelpFormatter:
        """Return the formatter; argparse wants one for each argument, and would load shutil for a width unseen."""
        if self._is_declaring:
            return argparse.HelpFormatter(self.prog, width=80)
        return super()._get_formatter()

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Declare an argument, as argparse does."""
        self._is_declaring = True
        try:
            return super().add_argument(*names, **options)
        finally:
            self._is_declaring = False

    def error(self, message: str) -> NoReturn:
        """Raise the usage error, with the option that may have been meant."""
        fix = f"`{self.prog} --help` shows the usage"
        if message.startswith("unrecognized arguments: -"):
            import difflib

            asked = message.split()[2].partition("=")[0]
            near = difflib.get_close_matches(asked, self._options(), n=2, cutoff=0.7)
            if asked in near:
                fix = f"{asked} is an option of {', '.join(self._having(asked))}; {fix}"
            elif near:
                fix = f"did you mean {' or '.join(near)}?"
            elif asked.startswith("--plat") and any(one.metavar == "PLATFORM" for one in self._actions):
                fix = "here PLATFORM is a word without an option, such as H20"
        elif message.endswith("expected one argument"):
            name = message.split()[1].rstrip(":")
            fix = f"a value that begins with - is written {name}=VALUE; {fix}"
        raise BadInput(message, where=self.prog, fix=fix, code="KB010")

    def _options(self) -> set[str]:
        """Return the options of this parser and of the parsers below it."""
        return set(self._option_string_actions).union(*(sub._options() for sub in self._below()))

    def _below(self) -> list[Parser]:
        """Return the parsers of its actions."""
        below = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return list({id(sub): sub for one in below for sub in one.choices.values()}.values())

    def _having(self, option: str) -> list[str]:
        """Return the commands below this one that take an option."""
        own = [f"`{self.prog}`"] if option in self._option_string_actions else []
        return own + [name for sub in self._below() for name in sub._having(option)]


def command_parser(command: Command) -> tuple[Parser, Callable[[argparse.Namespace], int]]:
    """Return the parser of a command and what runs it."""
    module = import_module(command.module)
    parser = Parser(
        prog=f"kb {command.name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.add_arguments(parser)
    return parser, module.run


def leaves(command: Command) -> dict[str, Parser]:
    """Return words → parser of each sub-command, or of the command itself where it has none."""
    parser, _ = command_parser(command)
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not below:
        return {command.name: parser}
    return {f"{command.name} {word}": sub for word, sub in below[0].choices.items()}


def add_sub_commands(actions: argparse._SubParsersAction[argparse.ArgumentParser], word: str) -> None:
    """Add what packs bring below a command of the core; `args.added` is then what runs it, and None for the core's."""
    from kopt_kb.cli.commands import added_commands

    for sub in actions.choices.values():
        sub.set_defaults(added=None)
    for command in added_commands(word):
        module = import_module(command.module)
        sub = actions.add_parser(command.name.partition(" ")[2], help=command.what, allow_abbrev=False)
        sub.set_defaults(added=module.run)
        module.add_arguments(sub)
