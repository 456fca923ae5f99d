"""Commands of a project: words, variables, placeholders, a wall limit; never a shell, so that no pipe hides a code."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.runners.project.strict_toml import Table

__all__ = ["PLACEHOLDERS", "Command", "command_of"]

PLACEHOLDERS = ("csv", "shapes", "python")
"""{csv}: file to write; {shapes}: shapes to run, with commas between them; {python}: the Python that runs kb."""

MAX_LIMIT_S = 1e7
"""No command needs longer, in seconds: about four months."""

LIMIT_S = 600.0
"""Wall limit of a command that names none, in seconds."""

_PLACE = re.compile(r"\{(\w+)\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SHELL = {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"}


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: build, test, benchmark, quick or profile.
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

    def argv(self, *, csv: str = "", shapes: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the words with placeholders filled in."""
        values = {"csv": csv, "shapes": ",".join(shapes), "python": sys.executable}
        return tuple(_PLACE.sub(lambda found: values.get(found.group(1), found.group(0)), word) for word in self.words)

    def shown(self) -> str:
        """Return the command as people read it."""
        variables = [f"{name}={value}" for name, value in self.env]
        words = (*variables, *self.words)
        return " ".join(
            one if _PLACE.search(one) and not any(map(str.isspace, one)) else shlex.quote(one) for one in words
        )

    def environment(self) -> Mapping[str, str]:
        """Return its variables."""
        return dict(self.env)


def command_of(table: Table, name: str, needed: tuple[str, ...]) -> Command:
    """Return a command of the table: a text, or a table with `run` and `limit_s`.

    Raises:
        ProjectFileError: It is neither, is no command line, or lacks a placeholder it needs.
    """
    value = table.values.get(name)
    if value is None:
        raise table.refuse(name, "is missing", f'write {name} = {{ run = "…", limit_s = 600 }}')
    line, limit_s = value, LIMIT_S
    if isinstance(value, dict):
        inner = table.table(name)
        for key in inner.values:
            if key not in {"run", "limit_s"}:
                raise table.refuse(name, f"has the key {key!r}", "known keys: run, limit_s")
        line, limit = inner.values.get("run"), inner.values.get("limit_s", LIMIT_S)
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= MAX_LIMIT_S:
            raise table.refuse(name, f"has the limit {limit!r}", f"seconds, above zero and up to {MAX_LIMIT_S:g}")
        limit_s = float(limit)
    if not isinstance(line, str) or not line.strip():
        raise table.refuse(name, f"is {line!r}, not a command line", f'write {name} = "…"')
    return _parsed(table, name, line, limit_s, needed)


def _parsed(table: Table, name: str, line: str, limit_s: float, needed: tuple[str, ...]) -> Command:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise table.refuse(name, f"can't be split into words: {error}", "close the quotes") from error
    shell = next((word for word in words if word in _SHELL), None)
    if shell is not None:
        raise table.refuse(name, f"has {shell!r}, and no shell runs it", "put it into a script of the project")
    variables = []
    while words and _ASSIGNMENT.fullmatch(words[0]):
        key, _, value = words.pop(0).partition("=")
        variables.append((key, value))
    found = Command(name, tuple(words), tuple(variables), limit_s)
    if not words:
        raise table.refuse(name, "names no program")
    for word in words:
        strange = next((one for one in _PLACE.findall(word) if one not in PLACEHOLDERS), None)
        if strange is not None:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise table.refuse(name, f"has the placeholder {{{strange}}}", f"known: {known}")
    for one in needed:
        if not found.takes(one):
            raise table.refuse(name, f"lacks {{{one}}}", f"put {{{one}}} where the command takes it")
    return found
