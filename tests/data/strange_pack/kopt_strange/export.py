"""The memory bandwidth of products, one a line, written and read back."""

from __future__ import annotations

import re

from kopt_kb.wiki.collect import Collection, Peak, plain_number
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row

__all__ = ["read", "recognises", "render"]

_HEAD = "# sheep"
_LINE = re.compile(r"(?P<platform>\w+): (?P<value>[0-9.e+]+) sheep a second(?: .*)?")


def render(found: Collection) -> dict[str, str]:
    """Return one file; a product without a documented bandwidth is not in it."""
    lines = [_HEAD]
    for one in found.products:
        peak = one.get("memory_bandwidth")
        if isinstance(peak, Peak):
            lines.append(f"{one.identity.platform}: {plain_number(peak.si)} sheep a second ({peak.cite})")
    return {"peaks.sheep": "\n".join(lines) + "\n"} if len(lines) > 1 else {}


def recognises(text: str) -> bool:
    """Return whether a text is of this form."""
    return text.startswith(_HEAD)


def read(text: str, where: str) -> list[ForeignRow]:
    """Return the rows of a file."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if (found := _LINE.fullmatch(line)) is not None:
            fields = {**found.groupdict(), "metric": "memory_bandwidth", "unit": "B/s"}
            rows.append(foreign_row(fields, f"{where}:{number}"))
    return rows
