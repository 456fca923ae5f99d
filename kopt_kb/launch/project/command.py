"""Commands of a project: words, variables, placeholders, a wall limit; never a shell, so that no pipe hides a code."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Text, Wire

__all__ = ["PLACEHOLDERS", "CommandRun", "ProjectCommand", "command_of"]

PLACEHOLDERS = ("csv", "report", "shapes", "python", "inputs", "outputs", "seed")
"""{csv}: file to write; {report}: file or folder to write, for a profile; {shapes}: shapes to run, with commas
between them; {python}: the Python that runs kb; {inputs}, {outputs}: folders of cases and of their
results; {seed}: a number that is new in each run, in the variable KOPT_SEED too."""

MAX_LIMIT_S = 1e7
"""No command needs longer, in seconds: about four months."""

LIMIT_S = 600.0
"""Wall limit of a command that names none, in seconds."""

_PLACE = re.compile(r"\{(\w+)\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SHELL = {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"}


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """One command.

    Attributes:
        name: build, test, benchmark, quick, profile or outputs.
        words: Program and arguments, with placeholders.
        env: Variables set for it: leading `NAME=value` words.
        limit_s: Wall limit in seconds.
    """

    name: str
    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    limit_s: float

    def takes(self, placeholder: str) -> bool:
        """Return whether the command has this placeholder."""
        return any(f"{{{placeholder}}}" in word for word in self.words)

    def argv(self, *, csv: str = "", shapes: tuple[str, ...] = (), **places: str) -> tuple[str, ...]:
        """Return the words with placeholders filled in; `places` are those of cases."""
        values = {"csv": csv, "report": csv, "shapes": ",".join(shapes), "python": sys.executable, **places}
        return tuple(_PLACE.sub(lambda found: values.get(found.group(1), found.group(0)), word) for word in self.words)

    @property
    def program(self) -> str:
        """What runs, as it is written: the script or the module of a Python, else the program."""
        first, *rest = self.words
        if first != "{python}":
            return first
        if "-m" in rest[:-1]:
            return f"-m {rest[rest.index('-m') + 1]}"
        return next((one for one in rest if not one.startswith("-")), first)

    def shown(self) -> str:
        """Return the command as people read it."""
        variables = [f"{name}={value}" for name, value in self.env]
        words = (*variables, *self.words)
        return " ".join(
            word if _PLACE.search(word) and not any(map(str.isspace, word)) else shlex.quote(word) for word in words
        )

    def environment(self) -> Mapping[str, str]:
        """Return its variables."""
        return dict(self.env)


@dataclass(frozen=True, slots=True)
class CommandRun(Wire):
    """A command as it is written: its line, and its wall limit in seconds."""

    run: Text
    limit_s: float = LIMIT_S


def command_of(
    name: str, run: CommandRun, needed: tuple[str, ...], refuse: Callable[[str, str, str], BadInput]
) -> ProjectCommand:
    """Return a command.

    Args:
        name: build, test, benchmark, quick or profile.
        run: As it is written.
        needed: Placeholders it must have.
        refuse: From key, what is wrong with it and what to do, to the error.

    Raises:
        BadInput: It is no command line, or lacks a placeholder it needs.
    """
    if not 0 < run.limit_s <= MAX_LIMIT_S:
        raise refuse(name, f"has the limit {run.limit_s!r}", f"seconds, above zero and up to {MAX_LIMIT_S:g}")
    try:
        words = shlex.split(run.run)
    except ValueError as error:
        raise refuse(name, f"can't be split into words: {error}", "close the quotes") from error
    shell = next((word for word in words if word in _SHELL), None)
    if shell is not None:
        raise refuse(name, f"has {shell!r}, and no shell runs it", "put it into a script of the project")
    variables = []
    while words and _ASSIGNMENT.fullmatch(words[0]):
        key, _, value = words.pop(0).partition("=")
        variables.append((key, value))
    if not words:
        raise refuse(name, "names no program", "write a program and its arguments")
    known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
    strange = next((one for word in words for one in _PLACE.findall(word) if one not in PLACEHOLDERS), None)
    if strange is not None:
        raise refuse(name, f"has the placeholder {{{strange}}}", f"known: {known}")
    command = ProjectCommand(name, tuple(words), tuple(variables), run.limit_s)
    for one in needed:
        if not any(command.takes(each) for each in one.split("|")):
            first = one.split("|")[0]
            raise refuse(name, f"lacks {{{first}}}", f"put {{{first}}} where the command takes it")
    return command
