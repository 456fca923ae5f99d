"""A JSON object cut into its members, each with the letters it is written in: so it can be written as it was."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from kopt_kb.base.errors import BadInput

__all__ = ["CutMember", "CutText", "cut"]

_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class CutMember:
    """One member of the outermost object.

    Attributes:
        key: Its name.
        value: Its value; objects as lists of pairs are never handed on, a name that stands twice is refused.
        text: Its letters, from the quote of the name to the end of the value.
        line: Of its name.
    """

    key: str
    value: object
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class CutText:
    """A text in pieces: what stands before the first member, between members, and behind the last.

    Attributes:
        members: In order.
        gaps: One more than members.
    """

    members: tuple[CutMember, ...]
    gaps: tuple[str, ...]


class _Scan:
    """A place in a text that moves on; whatever is not there is refused with its line."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.at = text, where, 0
        self.key = ""
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_float=self._float
        )

    def line(self, at: int | None = None) -> int:
        return self.text.count("\n", 0, self.at if at is None else at) + 1

    def refuse(self, what: str, at: int | None = None) -> NoReturn:
        about = f" (in {self.key})" if self.key else ""
        raise BadInput(
            f"{what}{about}", where=f"{self.where}:{self.line(at)}", fix="write the table again", code="KB116"
        )

    def skip(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, *letters: str) -> str:
        """Return the next letter, one of these."""
        self.skip()
        found = self.text[self.at : self.at + 1]
        if found not in letters:
            wanted = " or ".join(letters)
            self.refuse(f"{wanted} is missing" if found else f"the file ends where {wanted} is missing")
        self.at += 1
        return found

    def name(self) -> str:
        """Return the name of a member."""
        self.take('"')
        self.at -= 1
        return str(self._decoded())

    def value(self) -> Any:
        """Return the value behind a colon."""
        self.take(":")
        self.skip()
        return self._decoded()

    def _decoded(self) -> Any:
        try:
            found, self.at = self._decoder.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            self.refuse(f"no value: {error.msg}", error.pos)
        except RecursionError:
            self.refuse("values nested too deep")
        except ValueError:  # Python reads no number of more than 4,300 digits
            self.refuse("a number of too many digits")
        return found

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = dict(pairs)
        if len(names) < len(pairs):
            twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
            self.refuse(f"{twice} stands twice")
        return names

    def _constant(self, text: str) -> NoReturn:
        self.refuse(f"{text} is no number")

    def _float(self, text: str) -> NoReturn:
        self.refuse(f"{text} is no whole number")


def cut(text: str, where: str) -> CutText:
    """Return the members of an object and what stands between them.

    Raises:
        BadInput: It is no object, is cut off, names a member twice, or has a number that is not whole; with its line.
    """
    members: dict[str, CutMember] = {}
    gaps: list[str] = []
    last = 0
    for member, begin, end in _members(_Scan(text, where)):
        if member.key in members:
            what = f"the key {member.key} stands twice"
            raise BadInput(what, where=f"{where}:{member.line}", fix="leave one of them out", code="KB116")
        members[member.key] = member
        gaps.append(text[last:begin])
        last = end
    return CutText(tuple(members.values()), (*gaps, text[last:]))


def _members(scan: _Scan) -> Iterator[tuple[CutMember, int, int]]:
    """Yield each member with its begin and end."""
    scan.take("{")
    scan.skip()
    if scan.text[scan.at : scan.at + 1] == "}":
        scan.at += 1
        mark = "}"
    else:
        mark = ","
    while mark == ",":
        scan.skip()
        begin = scan.at
        key = scan.key = scan.name()
        value = scan.value()
        yield CutMember(key, value, scan.text[begin : scan.at], scan.line(begin)), begin, scan.at
        mark = scan.take(",", "}")
        scan.key = ""
    scan.skip()
    if scan.at != len(scan.text):
        scan.refuse("something stands behind the table")
