"""JSON and JSONL logs: every object with a speed is one record, with the line that each member stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from json import JSONDecodeError, JSONDecoder

from kopt_kb.packs.foreign_logs.names import PERFORMANCE, is_claim, role_of
from kopt_kb.packs.foreign_logs.record import (
    Field,
    ForeignRecord,
    LogForm,
    decision_in,
    number_in,
    round_in_path,
    round_number,
)
from kopt_kb.packs.foreign_logs.tree import Unread

__all__ = ["json_records", "jsonl_records"]

_SCALAR = re.compile(r"-?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|Infinity)|true|false|null|NaN")
_SPACE = re.compile(r"[ \t\r\n]*")
_STRINGS = JSONDecoder(strict=False)
_DEEPEST, _LONG = 40, 400
_MOST_RECORDS = 50_000


@dataclass(frozen=True, slots=True)
class _Node:
    """A value: an object's members, a list's, or the text of a scalar."""

    line: int
    members: tuple[tuple[str, _Node], ...] = ()
    text: str = ""
    is_object: bool = False


class _Reader:
    """A JSON text, read into nodes that know their line."""

    def __init__(self, text: str, line: int = 1) -> None:
        self._text, self._line, self._counted = text, line, 0

    def document(self) -> _Node:
        node, end = self._value(self._skip(0), 0)
        if self._skip(end) != len(self._text):
            raise JSONDecodeError("text behind the document", self._text, end)
        return node

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found is not None else at

    def _string(self, at: int) -> tuple[str, int]:
        text, end = _STRINGS.raw_decode(self._text, at)
        return str(text), end

    def _at(self, at: int) -> int:
        self._line += self._text.count("\n", self._counted, at)
        self._counted = at
        return self._line

    def _value(self, at: int, depth: int) -> tuple[_Node, int]:
        line = self._at(at)
        letter = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise JSONDecodeError(f"nested deeper than {_DEEPEST}", self._text, at)
        if letter == '"':
            text, end = self._string(at)
            return _Node(line, text=text), end
        if letter in {"{", "["}:
            return self._members(at + 1, letter == "{", line, depth)
        match = _SCALAR.match(self._text, at)
        if match is None:
            raise JSONDecodeError("no value", self._text, at)
        return _Node(line, text=match[0]), match.end()

    def _members(self, at: int, named: bool, line: int, depth: int) -> tuple[_Node, int]:
        found: list[tuple[str, _Node]] = []
        close = "}" if named else "]"
        at = self._skip(at)
        while self._text[at : at + 1] != close:
            name = ""
            if named:
                if self._text[at : at + 1] != '"':
                    raise JSONDecodeError("no name of a member", self._text, at)
                name, at = self._string(at)
                at = self._skip(at)
                if self._text[at : at + 1] != ":":
                    raise JSONDecodeError("no ':' behind a name", self._text, at)
                at = self._skip(at + 1)
            node, at = self._value(at, depth + 1)
            found.append((name, node))
            at = self._skip(at)
            if self._text[at : at + 1] == ",":
                at = self._skip(at + 1)
            elif self._text[at : at + 1] != close:
                raise JSONDecodeError(f"neither ',' nor '{close}'", self._text, at)
        return _Node(line, tuple(found), "", named), at + 1


def json_records(file: str, text: str) -> Iterator[ForeignRecord | Unread]:
    """Yield the records of a JSON document, or why it is none."""
    try:
        root = _Reader(text).document()
    except (JSONDecodeError, RecursionError) as error:
        line = error.lineno if isinstance(error, JSONDecodeError) else 0
        yield Unread(file, line, f"is no JSON: {getattr(error, 'msg', error)}")
        return
    yield from _from(file, "json", root)


def jsonl_records(file: str, text: str) -> Iterator[ForeignRecord | Unread]:
    """Yield the records of a text with one JSON document a line, and each line that is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            root = _Reader(line, number).document()
        except (JSONDecodeError, RecursionError) as error:
            yield Unread(file, number, f"is no JSON: {getattr(error, 'msg', error)}")
            continue
        yield from _from(file, "jsonl", root)


def _from(file: str, form: LogForm, root: _Node) -> Iterator[ForeignRecord]:
    for count, one in enumerate(_walk(file, form, root, "", round_in_path(file))):
        if count >= _MOST_RECORDS:
            return
        yield one


def _walk(file: str, form: LogForm, node: _Node, key: str, around: int | None) -> Iterator[ForeignRecord]:
    """Yield the record that a node is, or those below it; what is inside a record and has no name belongs to it."""
    if not node.is_object:
        for _, one in node.members:
            yield from _walk(file, form, one, key, around)
        return
    fields = tuple(_scalars(node))
    number = _round_of(fields, around, key)
    if is_claim(one.role for one in fields if one.role not in PERFORMANCE or one.value is not None):
        inner: list[ForeignRecord] = []
        yield _record(file, form, node, key, number, (*fields, *_inside(file, form, node, number, inner)))
        yield from inner
        return
    for name, one in node.members:
        if one.members:
            yield from _walk(file, form, one, name or key, number)


def _inside(file: str, form: LogForm, node: _Node, number: int | None, inner: list[ForeignRecord]) -> Iterator[Field]:
    """Yield the fields below a record; objects below it that name themselves become records of their own."""
    for name, one in node.members:
        for below in (one,) if one.is_object else tuple(part for _, part in one.members if part.is_object):
            fields = tuple(_scalars(below))
            named = any(field.role in {"round", "item"} for field in fields)
            if named and is_claim(
                field.role for field in fields if field.role not in PERFORMANCE or field.value is not None
            ):
                inner.extend(_walk(file, form, below, name, number))
                continue
            yield from (replace(field, name=f"{name}.{field.name}", role=_inner_role(name, field)) for field in fields)
            yield from _inside(file, form, below, number, inner)


def _inner_role(outer: str, field: Field) -> str:
    """Return the role of a field inside a named object: `runtime_stats.std`, `baseline.ms`, `duration_us.baseline`."""
    if field.role == "other":
        return role_of(f"{outer}_{field.name}")
    return "baseline time" if field.role == "time" and role_of(f"{outer}_ms") == "baseline time" else field.role


def _scalars(node: _Node) -> Iterator[Field]:
    for name, one in node.members:
        if one.members or one.is_object:
            continue
        role = role_of(name)
        if role != "none" and one.text not in {"", "null", "NaN", "Infinity", "-Infinity"}:
            yield Field(role, name, one.text, one.line)


def _round_of(fields: tuple[Field, ...], around: int | None, key: str) -> int | None:
    for one in fields:
        if (one.role == "round" or "round" in one.name) and (found := round_number(one.text[:80])) is not None:
            return found
    in_key = round_in_path(key)
    return in_key if in_key is not None else around


def _record(
    file: str, form: LogForm, node: _Node, key: str, number: int | None, fields: tuple[Field, ...]
) -> ForeignRecord:
    item = next((one.text for one in fields if one.role == "item" and number_in(one.text) is None), "") or key
    item = " ".join(item.split())[:80]
    said = [one.text for role in ("decision", "check") for one in fields if one.role == role]
    lines = tuple(
        (field.line, part)
        for field in fields
        if field.role in {"words", "other"}
        for part in field.text[: _LONG * 10].split("\n")
    )
    label = f"round {number}" if number is not None else item or f"line {node.line}"
    return ForeignRecord(file, node.line, form, label, number, item, decision_in(said), fields, lines)
