"""Footnotes of a page: the documents its rows cite."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kopt_kb.wiki.basis import ClaimBasis, read_evidence
from kopt_kb.wiki.faults import Fault

__all__ = ["FIELDS", "Footnote", "days_to_come", "read_footnotes"]

FIELDS = ("title", "publisher", "url", "revision", "read")
_DEFINITION = re.compile(r"^\[\^(?P<id>[A-Za-z0-9_.\-]+)\]:\s*(?P<body>.*)$")
_PAIR = re.compile(r'\s*(?P<name>[a-z]+)="(?P<value>[^"]*)"\s*')


@dataclass(frozen=True, slots=True)
class Footnote:
    """One document.

    Attributes:
        url: Web address, or `owner/repo@commit:path` for a file of a repository.
        revision: Revision or date printed on it, or the commit.
        read: Day it was read, ISO date.
        evidence: What stands behind it, on knowledge pages.
    """

    id: str
    title: str
    publisher: str
    url: str
    revision: str
    read: str
    line: int
    evidence: ClaimBasis | None = None


def _pairs(identifier: str, body: str) -> dict[str, str] | str:
    values: dict[str, str] = {}
    at = 0
    while at < len(body):
        pair = _PAIR.match(body, at)
        if pair is None or pair["name"] in values:
            return f"footnote [^{identifier}] is malformed at {body[at : at + 30]!r}"
        values[pair["name"]] = pair["value"].strip()
        at = pair.end()
        if at < len(body) and body[at] == ";":
            at += 1
        elif at < len(body):
            return f"footnote [^{identifier}] lacks a ; at {body[at : at + 30]!r}"
    return values


def _parse(identifier: str, body: str, line: int, *, evidence: bool) -> Footnote | str:
    pairs = _pairs(identifier, body)
    if isinstance(pairs, str):
        return pairs
    values = dict(list(pairs.items())[: len(FIELDS)]) if evidence else pairs
    if tuple(values) != FIELDS or not all(values.values()):
        return f"footnote [^{identifier}] needs {', '.join(FIELDS)}, in this order, none empty"
    try:
        datetime.date.fromisoformat(values["read"])
    except ValueError:
        return f"footnote [^{identifier}]: read={values['read']!r} is not a date"
    title, publisher, url, revision, read = values.values()
    footnote = Footnote(identifier, title, publisher, url, revision, read, line)
    if not evidence:
        return footnote
    behind = read_evidence(dict(list(pairs.items())[len(FIELDS) :]))
    return f"footnote [^{identifier}]: {behind}" if isinstance(behind, str) else replace(footnote, evidence=behind)


def read_footnotes(lines: list[str], *, evidence: bool = False) -> tuple[dict[str, Footnote], list[tuple[int, str]]]:
    """Return the definitions by id, and (line, message) of each that is malformed or repeated.

    Args:
        lines: The page.
        evidence: Whether each says what stands behind it, as those of knowledge pages do.
    """
    found: dict[str, Footnote] = {}
    bad: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        match = _DEFINITION.match(line)
        if match is None:
            continue
        one = _parse(match["id"], match["body"], number, evidence=evidence)
        if isinstance(one, str):
            bad.append((number, one))
        elif one.id in found:
            bad.append((number, f"footnote [^{one.id}] is defined twice"))
        else:
            found[one.id] = one
    return found, bad


_ELSEWHERE = datetime.timedelta(days=1)
"""Where it is tomorrow already, a document can be read tomorrow."""


def days_to_come(path: str, footnotes: Mapping[str, Footnote]) -> Iterator[Fault]:
    """Yield a fault for each document of a page that was read after today.

    The check asks this and no reader of values: a clock that is wrong must not take a right page away.
    """
    last = datetime.datetime.now(datetime.UTC).date() + _ELSEWHERE
    for note in footnotes.values():
        if datetime.date.fromisoformat(note.read) > last:
            message = f"footnote [^{note.id}]: read={note.read!r} is a day to come"
            yield Fault("WK206", path, note.line, message, "write the day on which the document was read")
