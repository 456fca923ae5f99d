"""Builds values from documents that are right, without pydantic; of every other document it says nothing.

`direct` takes what is plainly of the types that a class declares. Whatever else a document holds, a fault or a form
that only pydantic knows, is `UNSURE`: then `kopt_kb.base.wire_reader` judges the document, and it alone words refusals.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import repeat
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import (
    DEPTH_LIMIT,
    LARGEST_INTEGER,
    NUMBER,
    AnyObject,
    AtLeast,
    ExactText,
    Matches,
    Wire,
    members,
)

__all__ = ["UNSURE", "direct"]

DirectReader = Callable[[Any], Any]
UNSURE = object()
"""What `direct` gives for a document that pydantic has to judge."""


class _UnsureError(Exception):
    """The document is not plainly of the type."""


def direct(kind: Any, document: object) -> object:
    """Return the value of a type that a document holds, or `UNSURE`."""
    try:
        return _reader(kind)(document)
    except (_UnsureError, KoptError, KeyError, ValueError, TypeError, RecursionError):
        return UNSURE


@cache
def _reader(kind: Any) -> DirectReader:
    """Return what reads a type; it raises for every document that is not plainly of it."""
    origin, words = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotated(words[0], words[1:])
    if origin is Literal and all(type(word) is str for word in words):
        return _scalar(str, frozenset(words).__contains__)
    if origin in {Union, UnionType}:
        # Where an integer has a form of its own, it stands for no float.
        return _union([_scalar(float, math.isfinite) if word is float else _reader(word) for word in words])
    if origin is tuple:
        return _tuple(words)
    if origin in {dict, Mapping}:
        return _mapping(_reader(words[0]), _reader(words[1]))
    if dataclasses.is_dataclass(kind) and issubclass(cast("type", kind), Wire):
        return _record(kind)
    return _number if kind is float else _scalar(kind, _HOLDS[kind])


def _number(value: Any) -> float:
    """Return a finite number; an integer that a float holds exactly stands for one."""
    if type(value) is int and value in _WHOLE_FLOATS:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise _UnsureError
    return value


def _scalar(kind: type, holds: Callable[[Any], object] | None) -> DirectReader:
    def read(value: Any) -> Any:
        if type(value) is not kind or (holds is not None and not holds(value)):
            raise _UnsureError
        return value

    return read


_WHOLE_FLOATS = range(-(2**53), 2**53 + 1)
_HOLDS: Mapping[Any, Callable[[Any], object] | None] = {
    str: None, bool: None, NoneType: None, int: range(-LARGEST_INTEGER, LARGEST_INTEGER + 1).__contains__,
}  # fmt: skip
"""Type → what its values have to hold besides."""


def _annotated(kind: Any, marks: tuple[object, ...]) -> DirectReader:
    (mark,) = marks
    if isinstance(mark, AnyObject):
        return _any_object
    if isinstance(mark, Matches):
        return _scalar(str, re.compile(mark.pattern).search)
    if isinstance(mark, AtLeast):
        return _scalar(kind, range(mark.least, LARGEST_INTEGER + 1).__contains__)
    if not isinstance(mark, ExactText):
        raise _UnsureError
    exact = _scalar(str, re.compile(NUMBER.pattern).search)
    return lambda value: Fraction(exact(value))


def _union(readers: list[DirectReader]) -> DirectReader:
    def read(value: Any) -> Any:
        taken = []
        for reader in readers:
            try:
                taken.append(reader(value))
            except (_UnsureError, KoptError, ValueError, TypeError):
                continue
        if len(taken) != 1:
            raise _UnsureError
        return taken[0]

    return read


def _tuple(words: tuple[Any, ...]) -> DirectReader:
    is_long = len(words) == 2 and words[1] is Ellipsis
    items = [_reader(word) for word in (words[:1] if is_long else words)]

    def read(value: Any) -> Any:
        if type(value) not in {list, tuple}:
            raise _UnsureError
        readers = repeat(items[0], len(value)) if is_long else items
        return tuple([item(one) for item, one in zip(readers, value, strict=True)])

    return read


def _mapping(key: DirectReader, item: DirectReader) -> DirectReader:
    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _UnsureError
        return MappingProxyType({key(name): item(held) for name, held in value.items()})

    return read


def _record(kind: Any) -> DirectReader:
    """Return what reads a class: members by the names of its document, computed ones passed over."""
    convert = getattr(kind, "from_wire", None)
    fields, needed, computed = _members_of(kind, converts=convert is not None)

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _UnsureError
        if computed:
            value = {name: held for name, held in value.items() if name not in computed}
        if convert is not None:
            value = convert(value)
        if not needed <= value.keys():
            raise _UnsureError
        given = {}
        for name, held in value.items():
            field, reader = fields.get(name, _UNKNOWN)
            given[field] = reader(held)
        return kind(**given)

    return read


def _members_of(kind: Any, *, converts: bool) -> tuple[dict[str, tuple[str, DirectReader]], set[str], set[str]]:
    """Return member → field and its reader, the members that have to be there, and those that are computed."""
    listed = {member.path: member.name for member in members(kind)}
    try:
        hints = get_type_hints(kind, include_extras=True)
    except NameError as error:  # a type that its module imports for type checkers alone
        raise _UnsureError from error
    fields, needed = {}, set()
    for field in dataclasses.fields(kind):
        name = listed.pop(field.name, field.name if converts else "")
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if not name and not has_default:
            raise _UnsureError  # a class that is written only
        if name:
            fields[name] = (field.name, _reader(hints[field.name]))
            needed |= set() if has_default else {name}
    return fields, needed, set(listed.values()) - fields.keys() if converts else set(listed.values())


def _refuse(*_: object) -> Any:
    raise _UnsureError


_UNKNOWN = ("", _refuse)


def _any_object(value: Any) -> Any:
    if type(value) is not dict:
        raise _UnsureError
    return _frozen(value, 0)


def _frozen(value: Any, depth: int) -> Any:
    kind = type(value)
    if depth > DEPTH_LIMIT:
        raise _UnsureError
    if kind is str or kind is bool or kind is NoneType:
        return value
    if kind is dict:
        if not all(type(name) is str for name in value):
            raise _UnsureError
        return MappingProxyType({name: _frozen(held, depth + 1) for name, held in value.items()})
    if kind is list:
        return tuple([_frozen(held, depth + 1) for held in value])
    if (kind is int and abs(value) <= LARGEST_INTEGER) or (kind is float and math.isfinite(value)):
        return value
    raise _UnsureError
