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
        pattern = re.compile(rf"\s*(?:\"{re.escape(key)}\"|{re.escape(key)})\s*=") if key else None
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
        ProjectFileError: It is no UTF-8 or no TOML, or has a table or key at its top that is not known.
    """
    try:
        source = data.decode("utf-8")
        found = tomllib.loads(source)
    except UnicodeDecodeError as error:
        raise ProjectFileError(f"is not UTF-8: {error.reason} at byte {error.start}", where=where) from error
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        place = f"{where}:{at.group(1)}" if at else where
        raise ProjectFileError(f"is not TOML: {error}", where=place, fix="correct the line") from error
    for name, value in found.items():
        if name not in known or not isinstance(value, dict):
            line = Table(name, {}, where, source).line("")
            fix = f"tables: {', '.join(f'[{one}]' for one in known)}"
            raise ProjectFileError(f"{name!r} is no table of a project file", where=f"{where}:{line}", fix=fix)
    return {name: Table(name, found.get(name, {}), where, source) for name in known}
