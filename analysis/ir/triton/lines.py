"""IR text to clean lines: locations and comments dropped, strings set aside, arrows made one character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["IrLine", "clean_lines", "cut_braces"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SKIP = ("#", "//", "{-#", "#-}")


@dataclass(frozen=True, slots=True)
class IrLine:
    """One line: its 1-based number, its text with strings as `"0"`, `"1"` …, and those strings."""

    number: int
    text: str
    strings: tuple[str, ...]

    def string(self, placeholder: str) -> str:
        """The string a placeholder such as `"0"` stands for; other text as it is."""
        bare = placeholder.strip()
        return self.strings[int(bare[1:-1])] if bare.startswith('"') else bare


def _drop_locations(text: str) -> str:
    start = text.find(" loc(")
    while start >= 0:
        depth, end = 0, start + 4
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        text = text[:start] + text[end:]
        start = text.find(" loc(")
    return text


def _set_aside(line: str) -> tuple[str, list[str]]:
    strings: list[str] = []
    if '"' not in line:
        return line, strings

    def keep(match: re.Match[str]) -> str:
        strings.append(match.group()[1:-1])
        return f'"{len(strings) - 1}"'

    return _STRING.sub(keep, line), strings


def clean_lines(text: str) -> Iterator[IrLine]:
    """The lines that carry IR, in order."""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(_SKIP):
            continue
        line, strings = _set_aside(line)
        line = _drop_locations(line).split("//")[0].strip()
        if line:
            yield IrLine(number, line.replace("->", "→"), tuple(strings))


def cut_braces(text: str) -> tuple[str, str]:
    """The text without its `{…}` dictionaries, and what stood inside them joined by commas."""
    outside: list[str] = []
    inside: list[str] = []
    depth = 0
    for char in text:
        if char == "{":
            depth += 1
            if depth == 1:
                inside.append(",")
                continue
        elif char == "}":
            depth -= 1
            if depth == 0:
                continue
        (inside if depth else outside).append(char)
    return "".join(outside), "".join(inside).strip(",")
