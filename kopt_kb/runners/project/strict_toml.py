"""Strict reading of a TOML file: every refusal names the file, the line and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kopt_kb.errors import BadInput

__all__ = ["ProjectFileError", "Table", "read_tables"]

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_MAX_BYTES = 1 << 20
_MAX_NESTING = 100
_DIGITS = re.compile(r"[0-9_]+")
_INTEGERS = range(-(1 << 63), 1 << 63)  # those of TOML


class ProjectFileError(BadInput):
    """A project file can't be used as it stands."""

    code = "KB410"


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a TOML file.

    Attributes:
        name: As written between the brackets, such as `csv`.
        values: Its keys.
        where: File, for errors.
        source: Text of the whole file, in which the line of a key is looked up.
    """

    name: str
    values: Mapping[str, Any]
    where: str
    source: str

    def refuse(self, key: str, what: str, fix: str = "") -> ProjectFileError:
        """Return the error of a key, with the line it stands on."""
        place = f"[{self.name}] {key}" if key else f"[{self.name}]"
        return ProjectFileError(f"{place} {what}", where=f"{self.where}:{self.line(key)}", fix=fix)

    def line(self, key: str) -> int:
        """Return the line of a key, of its table when it is absent, or 1."""
        inside, found = False, 1
        pattern = re.compile(rf"\s*(?:\"{re.escape(key)}\"|{re.escape(key)})\s*[=.]") if key else None
        for number, text in enumerate(self.source.split("\n"), 1):
            bare = text.split("#")[0].strip()
            if bare.startswith("["):
                inside = bare.strip("[] ").replace('"', "") == self.name
                found = number if inside else found
            elif inside and pattern is not None and pattern.match(text):
                return number
        return found

    def only(self, known: Collection[str]) -> None:
        """Refuse keys outside a closed list."""
        for key in self.values:
            if key not in known:
                raise self.refuse(key, "is no key of this table", f"known keys: {', '.join(known)}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text that is not blank; without a default the key is required."""
        value = self.values.get(key, default)
        if value is None:
            raise self.refuse(key, "is missing", "docs/projects.md shows a whole file")
        if not isinstance(value, str) or (not value.strip() and value != default):
            raise self.refuse(key, f"is {value!r}, not a text", f'write {key} = "…"')
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return a list of texts, each once."""
        value = self.values.get(key, default)
        if value is None:
            raise self.refuse(key, "is missing", "docs/projects.md shows a whole file")
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one.strip() for one in value):
            raise self.refuse(key, f"is {value!r}, not a list of texts", f'write {key} = ["…"]')
        twice = next((one for at, one in enumerate(value) if one in value[:at]), None)
        if twice is not None:
            raise self.refuse(key, f"names {twice!r} twice", "name it once")
        return tuple(value)

    def positive(self, key: str, default: float) -> float:
        """Return a number above zero."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise self.refuse(key, f"is {value!r}, not a number above zero")
        return float(value)

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """Return one word of a closed list."""
        value = self.values.get(key, default)
        if value not in allowed:
            raise self.refuse(key, f"is {value!r}", f"one of {', '.join(allowed)}")
        return str(value)

    def table(self, key: str) -> Table:
        """Return a table inside this one; its keys are looked up on the line of `key`."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.refuse(key, f"is {value!r}, not a table", f"write {key} = {{ … }}")
        return Table(f"{self.name}.{key}", value, self.where, self.source)


def read_tables(data: bytes, where: str, known: Collection[str]) -> dict[str, Table]:
    """Return the tables of a TOML file by name; a known one that is absent is empty.

    Raises:
        ProjectFileError: It is no UTF-8 or no TOML, has a table or key at its top that is not known, or holds what no
            command line, path or number can: a NUL, an integer beyond 64 bits, brackets without end.
    """
    source, found = _parsed(data, where)
    for name, value in found.items():
        if name not in known or not isinstance(value, dict):
            line = Table(name, {}, where, source).line("")
            fix = f"tables: {', '.join(f'[{one}]' for one in known)}"
            raise ProjectFileError(f"{name!r} is no table of a project file", where=f"{where}:{line}", fix=fix)
    tables = {name: Table(name, found.get(name, {}), where, source) for name in known}
    for table in tables.values():
        for key, value in table.values.items():
            _check_values(table, key, value)
    return tables


def _parsed(data: bytes, where: str) -> tuple[str, dict[str, Any]]:
    """Return the text and what it says; what the parser can't bear is refused before it."""
    if len(data) > _MAX_BYTES:
        raise ProjectFileError(f"is larger than {_MAX_BYTES} bytes", where=where, fix="name a project file")
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProjectFileError(f"is not UTF-8: {error.reason} at byte {error.start}", where=where) from error
    try:
        return source, tomllib.loads(source)
    except RecursionError as error:
        what = "is nested too deeply"
        raise ProjectFileError(what, where=f"{where}:{_deepest(source)}", fix="correct the brackets") from error
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        place = f"{where}:{at.group(1)}" if at else where
        raise ProjectFileError(f"is not TOML: {error}", where=place, fix="correct the line") from error
    except ValueError as error:  # a number of thousands of digits, which the parser does not place
        longest = max(enumerate(source.split("\n"), 1), key=lambda at: max(map(len, _DIGITS.findall(at[1])), default=0))
        what = "holds a number that can't be read"
        raise ProjectFileError(what, where=f"{where}:{longest[0]}", fix="correct the number") from error


def _deepest(source: str) -> int:
    """Return the line on which brackets get deeper than any file needs, or the one that opens most of them."""
    depth, lines = 0, source.split("\n")
    for number, line in enumerate(lines, 1):
        depth += sum(map(line.count, "[{")) - sum(map(line.count, "]}"))
        if depth > _MAX_NESTING:
            return number
    return max(range(1, len(lines) + 1), key=lambda at: sum(map(lines[at - 1].count, "[{")))


def _check_values(table: Table, key: str, value: object) -> None:
    """Refuse a value, or one inside it, that nothing after this could use; dotted keys can nest without a bracket."""
    level = [value]
    for _ in range(_MAX_NESTING):
        for one in level:
            if isinstance(one, str) and "\0" in one:
                raise table.refuse(key, "holds a NUL character", "no path and no command line can have one")
            if isinstance(one, int) and one not in _INTEGERS:
                raise table.refuse(key, "holds an integer of more than 64 bits", "TOML has none")
        inner = [[*one, *one.values()] if isinstance(one, dict) else one for one in level]
        level = [each for one in inner if isinstance(one, list) for each in one]
    if level:
        raise table.refuse(key, "is nested too deeply", "write it flat")
