"""A TOML file whose every refusal names the file, the line and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire, WireError, members, read

__all__ = ["ProjectFileError", "TomlSource", "read_source"]

T = TypeVar("T", bound=Wire)

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_PATH = re.compile(r"([^.\[]+)\.?([^.\[]*)(.*)", re.DOTALL)
_MAX_BYTES = 1 << 20
_MAX_NESTING = 100
_DIGITS = re.compile(r"[0-9_]+")
_INTEGERS = range(-(1 << 63), 1 << 63)  # those of TOML


class ProjectFileError(BadInput):
    """A project file can't be used as it stands."""

    code = "KB410"


@dataclass(frozen=True, slots=True)
class TomlSource:
    """A TOML file.

    Attributes:
        where: Its path, for errors.
        text: What stands in it; the line of a key is looked up there.
        tables: Its tables by name; all known ones are there.
    """

    where: str
    text: str
    tables: Mapping[str, Mapping[str, Any]]

    def read(self, table: str, kind: type[T]) -> T:
        """Return a table as a value of its type.

        Raises:
            ProjectFileError: A key is missing, unknown or of the wrong kind.
        """
        known = [member.name for member in members(cast("Hashable", kind))]
        for key in self.tables[table]:
            if key not in known:
                raise self.refuse(table, key, "is no key of this table", f"known keys: {', '.join(known)}")
        try:
            return read(kind, dict(self.tables[table]), where=table)
        except WireError as error:
            found = _PATH.fullmatch(error.where)
            key, rest = (found[2], found[3]) if found else ("", "")
            fix = "docs/projects.md shows a whole file"
            raise self.refuse(table, key, error.what.replace("member of this record", "key"), fix, rest) from None

    def refuse(self, table: str, key: str, what: str, fix: str = "", inside: str = "") -> ProjectFileError:
        """Return the error of a key, or of a place inside its value, with the line it stands on."""
        place = f"[{table}] {key}{inside}" if key else f"[{table}]"
        return ProjectFileError(f"{place} {what}", where=f"{self.where}:{self.line(table, key)}", fix=fix)

    def line(self, table: str, key: str) -> int:
        """Return the line of a key, of its table when it is absent, or 1."""
        inside, found = False, 1
        pattern = re.compile(rf"\s*(?:\"{re.escape(key)}\"|{re.escape(key)})\s*[=.]") if key else None
        for number, text in enumerate(self.text.split("\n"), 1):
            bare = text.split("#")[0].strip()
            if bare.startswith("["):
                inside = bare.strip("[] ").replace('"', "") == table
                found = number if inside else found
            elif inside and pattern is not None and pattern.match(text):
                return number
        return found


def read_source(data: bytes, where: str, known: tuple[str, ...]) -> TomlSource:
    """Return a TOML file of known tables; one that is absent is empty.

    Raises:
        ProjectFileError: It is no UTF-8 or no TOML, has a table or key at its top that is not known, names something
            twice in a list, or holds what no command line, path or number can: a NUL, an integer beyond 64 bits,
            brackets without end.
    """
    text, found = _parsed(data, where)
    source = TomlSource(where, text, {name: found.get(name, {}) for name in known})
    for name, value in found.items():
        if name not in known or not isinstance(value, dict):
            fix = f"tables: {', '.join(f'[{one}]' for one in known)}"
            line = source.line(name, "")
            raise ProjectFileError(f"{name!r} is no table of a project file", where=f"{where}:{line}", fix=fix)
    for name, table in source.tables.items():
        for key, value in table.items():
            _check_values(source, name, key, value)
    return source


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


def _check_values(source: TomlSource, table: str, key: str, value: object) -> None:
    """Refuse a value, or one inside it, that nothing after this could use; dotted keys can nest without a bracket."""
    if isinstance(value, list):
        twice = next((one for at, one in enumerate(value) if one in value[:at]), None)
        if twice is not None:
            raise source.refuse(table, key, f"names {twice!r} twice", "name it once")
    level = [value]
    for _ in range(_MAX_NESTING):
        for one in level:
            if isinstance(one, str) and "\0" in one:
                raise source.refuse(table, key, "holds a NUL character", "no path and no command line can have one")
            if isinstance(one, int) and one not in _INTEGERS:
                raise source.refuse(table, key, "holds an integer of more than 64 bits", "TOML has none")
        inner = [[*one, *one.values()] if isinstance(one, dict) else one for one in level]
        level = [each for one in inner if isinstance(one, list) for each in one]
    if level:
        raise source.refuse(table, key, "is nested too deeply", "write it flat")
