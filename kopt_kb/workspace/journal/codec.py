"""Turns plain JSON into frozen dataclasses and back; a refusal names the field."""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from kopt_kb.wire import WireError as FieldError

__all__ = [
    "AnyJson",
    "Count",
    "FieldError",
    "JsonMap",
    "Matches",
    "Number",
    "Seq",
    "Sha256",
    "Text",
    "decode",
    "encode",
]

T = TypeVar("T")
Decoder = Callable[[object, str], object]

_INTEGER_LIMIT = 2**63
_DEPTH_LIMIT = 32


@dataclasses.dataclass(frozen=True, slots=True)
class Matches:
    """Annotation: the text has to match the whole pattern; `meaning` completes "has to be …"."""

    pattern: re.Pattern[str]
    meaning: str

    def check(self, value: object, where: str) -> None:
        """Refuse text outside the pattern."""
        if not self.pattern.fullmatch(str(value)):
            raise _wrong(self.meaning, value, where)


@dataclasses.dataclass(frozen=True, slots=True)
class AtLeast:
    """Annotation: the number may not be below `least`."""

    least: int

    def check(self, value: object, where: str) -> None:
        """Refuse a smaller number."""
        if isinstance(value, int) and value < self.least:
            raise _wrong(f"at least {self.least}", value, where)


@dataclasses.dataclass(frozen=True, slots=True)
class AnyJson:
    """Annotation: a JSON object of any content, frozen to read-only mappings and tuples."""


Text = Annotated[str, Matches(re.compile(r"(?s).*\S.*"), "text that is not blank")]
"""A text with at least one visible character."""
Sha256 = Annotated[str, Matches(re.compile(r"[0-9a-f]{64}"), "a sha256 in 64 lower-case hex digits")]
"""The name of a blob or the hash of a page."""
Number = Annotated[
    str,
    Matches(re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|-?\d+/[1-9]\d*"), "an exact number such as 0.9 or 37/8"),
]
"""A number kept as text, so that no digit is lost: an integer, a decimal or a fraction."""
Count = Annotated[int, AtLeast(0)]
"""An integer that is zero or more."""
Seq = Annotated[int, AtLeast(1)]
"""The sequence number of an event; equal to its line in the journal."""
JsonMap = Annotated[Mapping[str, Any], AnyJson()]
"""A JSON object whose inner shape belongs to somebody else."""


def decode(kind: type[T], value: object, where: str = "") -> T:
    """Build a dataclass from plain JSON.

    Args:
        kind: The frozen dataclass to build.
        value: What `json.loads` gave, or what `encode` made.
        where: Path of the value, the start of every field's path in errors.

    Returns:
        The object; lists are tuples and mappings are read-only.

    Raises:
        FieldError: The first field that is missing, surplus or wrong.
    """
    return cast("T", _decoder(cast("Hashable", kind))(value, where))


def encode(value: object) -> object:
    """The plain JSON of a dataclass, mapping or tuple; `decode` gives the equal object back."""
    if dataclasses.is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _wrong(expected: str, value: object, where: str) -> FieldError:
    return FieldError(f"has to be {expected}, not {_shown(value)}", where=where)


@cache
def _decoder(kind: Hashable) -> Decoder:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record(kind)
    return _compound(get_origin(kind), get_args(kind))


def _compound(origin: object, args: tuple[Any, ...]) -> Decoder:
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType) and args[1:] == (type(None),):
        return _optional(_decoder(args[0]))
    if origin is tuple and args[1:] == (Ellipsis,):
        return _sequence(_decoder(args[0]))
    if origin is Mapping and args[0] is str:
        return _mapping(_decoder(args[1]))
    raise TypeError(f"no JSON form for {origin!r} of {args!r}")


def _string(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong("text", value, where)
    return value


def _integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong("an integer", value, where)
    if abs(value) >= _INTEGER_LIMIT:
        raise FieldError("has to be an integer of at most 63 bits", where=where)
    return value


def _real(value: object, where: str) -> float:
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, float):
        raise _wrong("a finite number", value, where)
    try:
        return float(_integer(value, where))
    except FieldError as error:
        raise _wrong("a finite number", value, where) from error


def _boolean(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong("true or false", value, where)
    return value


_SCALARS: dict[Hashable, Decoder] = {str: _string, int: _integer, float: _real, bool: _boolean}


def _annotated(base: Hashable, marks: tuple[object, ...]) -> Decoder:
    if any(isinstance(mark, AnyJson) for mark in marks):
        return _json_map
    inner = _decoder(base)
    checks = [mark for mark in marks if isinstance(mark, Matches | AtLeast)]

    def read(value: object, where: str) -> object:
        decoded = inner(value, where)
        for mark in checks:
            mark.check(decoded, where)
        return decoded

    return read


def _literal(choices: tuple[str, ...]) -> Decoder:
    def read(value: object, where: str) -> object:
        if not isinstance(value, str) or value not in choices:
            raise _wrong(f"one of {', '.join(choices)}", value, where)
        return value

    return read


def _optional(inner: Decoder) -> Decoder:
    return lambda value, where: None if value is None else inner(value, where)


def _sequence(inner: Decoder) -> Decoder:
    def read(value: object, where: str) -> tuple[object, ...]:
        if not isinstance(value, list | tuple):
            raise _wrong("a list", value, where)
        return tuple(inner(item, f"{where}[{index}]") for index, item in enumerate(value))

    return read


def _mapping(inner: Decoder) -> Decoder:
    def read(value: object, where: str) -> Mapping[str, object]:
        entries = _entries(value, where)
        return types.MappingProxyType({key: inner(item, f"{where}.{key}") for key, item in entries})

    return read


def _entries(value: object, where: str) -> list[tuple[str, object]]:
    if not isinstance(value, Mapping):
        raise _wrong("an object", value, where)
    for key in value:
        if not isinstance(key, str):
            raise _wrong("an object with text keys", key, where)
    return list(value.items())


def _json_map(value: object, where: str) -> Mapping[str, object]:
    return types.MappingProxyType({k: _frozen(v, f"{where}.{k}", 1) for k, v in _entries(value, where)})


def _frozen(value: object, where: str, depth: int) -> object:
    if depth > _DEPTH_LIMIT:
        raise FieldError(f"is nested deeper than {_DEPTH_LIMIT} levels", where=where)
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return _integer(value, where)
    if isinstance(value, list | tuple):
        return tuple(_frozen(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value))
    if isinstance(value, Mapping):
        entries = _entries(value, where)
        return types.MappingProxyType({k: _frozen(v, f"{where}.{k}", depth + 1) for k, v in entries})
    if isinstance(value, float):
        return _real(value, where)
    raise _wrong("a JSON value", value, where)


def _record(kind: type) -> Decoder:
    hints = get_type_hints(kind, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    decoders = {name: _decoder(hints[name]) for name in fields}
    required = {n for n, f in fields.items() if f.default is f.default_factory is dataclasses.MISSING}

    def read(value: object, where: str) -> object:
        entries = dict(_entries(value, where))
        prefix = f"{where}." if where else ""
        for name in required - entries.keys():
            raise FieldError("is missing", where=prefix + name)
        for name in entries.keys() - fields.keys():
            raise FieldError(f"is no field of {kind.__name__}", where=prefix + name)
        return kind(**{name: decoders[name](item, prefix + name) for name, item in entries.items()})

    return read
