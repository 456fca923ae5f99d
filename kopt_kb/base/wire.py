"""The one serialiser: frozen dataclasses to JSON and back. Data change form here and nowhere else.

Writing needs no pydantic. `Wire` gives a frozen dataclass its `to_json()`; `plain` writes any value, `canonical`
its bytes as the journal hashes them:

    @dataclass(frozen=True, slots=True)
    class Evidence(Wire):
        metric: str
        share: Fraction                      # exact numbers are written as text: "9/10"

A class writes its fields in order. Where a document differs from the fields, the class lists its members:

    WIRE: ClassVar = ("metric", "class=bottleneck", "value=amount.value", "headroom_s", "needs?", *inside("scan", Scan))

`name` is the field or property of that name; `name=path` takes the value from another attribute, dots lead inside
(renames, flattens); a field that is not listed is not written; `name?` is left out when it is None; `inside` flattens
a whole document.

Reading is strict. What is plainly right is read without pydantic (`kopt_kb.base.wire_direct`); every other document is
pydantic's to judge, which is imported then. `read(Kind, document)` refuses unknown, missing and
wrong members with one `WireError` that names the member's path; nothing is converted ("1" is no 1, 1.0 is no 1, true
is no 1). Lists become tuples, objects read-only mappings. Computed members (properties) are dropped, since the object
computes them again. Where a member is another form of a field, the classmethod `from_wire(cls, document) -> fields`
turns it back before the checks (`pairs` helps). A class with a field that is not in its document, without a default
and without `from_wire` is written only. `parse` turns text into a document
and refuses members that stand twice. `schema(Kind)` is the JSON Schema of what `Kind` writes.

Annotations for fields: `Text`, `Sha256`, `Number`, `NonNegativeInt`, `Seq`, `Exact` (a Fraction), `JsonMap` (any JSON
object, at most 32 levels deep). Plain `int` has at most 63 bits and `float` is finite.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from fractions import Fraction
from functools import cache
from operator import attrgetter
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, TypeVar, cast, overload

from kopt_kb.base.errors import BadInput

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

__all__ = [
    "JSON",
    "AtLeast",
    "Exact",
    "JsonMap",
    "Matches",
    "NonNegativeInt",
    "Number",
    "Seq",
    "Sha256",
    "Text",
    "Wire",
    "WireError",
    "canonical",
    "inside",
    "pairs",
    "parse",
    "plain",
    "read",
    "schema",
]

T = TypeVar("T")
LARGEST_INTEGER = 2**63 - 1
DEPTH_LIMIT = 32
JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""A JSON value."""


class WireError(BadInput):
    """A member of a document is missing, surplus or of the wrong kind; `where` is the member's path."""

    code = "KB301"


# ---- writing -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One member of a class's document: its name, the path of its value, whether None is left out."""

    name: str
    path: str
    optional: bool


class Wire:
    """Base of frozen dataclasses that are written as JSON documents and can be read from them."""

    __slots__ = ()
    __pydantic_config__: ClassVar = {"extra": "forbid", "arbitrary_types_allowed": True}
    WIRE: ClassVar[tuple[str, ...]] = ()

    def to_json(self) -> dict[str, JSON]:
        """Return the document: `--json` prints it, journals store it."""
        written: dict[str, JSON] = {}
        kind: Any = type(self)
        for member, get in _writers(kind):
            value = get(self)
            if not (member.optional and value is None):
                written[member.name] = plain(value)
        return written

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell pydantic the class's document: names, computed members, strictness."""
        from kopt_kb.base.wire_reader import class_schema

        return class_schema(cls, handler(source), handler)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Complete the JSON Schema: which members are always there."""
        body = handler.resolve_ref_schema(handler(core))
        body["required"] = [member.name for member in members(cast("Hashable", cls)) if not member.optional]
        return body


@cache
def members(kind: Hashable) -> tuple[Member, ...]:
    """Return what a class writes, in order."""
    listed = getattr(kind, "WIRE", ()) or tuple(field.name for field in dataclasses.fields(cast("Any", kind)))
    written = []
    for text in listed:
        name, _, path = text.partition("=")
        written.append(Member(name.removesuffix("?"), path or name.removesuffix("?"), name.endswith("?")))
    return tuple(written)


@cache
def _writers(kind: Hashable) -> tuple[tuple[Member, Callable[[object], object]], ...]:
    return tuple((member, attrgetter(member.path)) for member in members(kind))


def plain(value: Any) -> JSON:
    """Return the JSON form of a value.

    Dataclasses are written by their members, enumerations by their value, fractions as exact text ("9/10"), tuples
    as lists, sets sorted, paths as text.

    Raises:
        TypeError: The value, or a part of it, has no JSON form.
    """
    kind: Any = type(value)
    return value if kind in _ATOMS else _writer(kind)(value)


@cache
def _writer(kind: Any) -> Callable[[Any], JSON]:
    for base, write in _FORMS:
        if issubclass(kind, base):
            return write
    if dataclasses.is_dataclass(kind):
        return _plain_dataclass
    raise TypeError(f"no JSON form for {kind.__name__}")


def _plain_dataclass(value: Any) -> JSON:
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _plain_mapping(value: Mapping[object, object]) -> JSON:
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"no JSON form for the key {key!r}")
    return {cast("str", key): plain(item) for key, item in value.items()}


_FORMS: tuple[tuple[type | tuple[type, ...], Callable[[Any], JSON]], ...] = (
    (Wire, lambda value: value.to_json()),
    (Mapping, _plain_mapping),
    ((tuple, list), lambda value: [plain(item) for item in value]),
    (Enum, lambda value: plain(value.value)),
    ((str, int, float), lambda value: value),
    ((frozenset, set), lambda value: [plain(item) for item in sorted(value)]),
    ((Fraction, PurePath), str),
)
_ATOMS = {str, int, float, bool, type(None)}


def canonical(value: object) -> bytes:
    """Return the one form in which values are stored and hashed: ASCII, sorted members, no spaces, no NaN.

    Raises:
        ValueError: The value holds NaN or an infinity.
        TypeError: It has no JSON form.
    """
    text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")


# ---- reading -------------------------------------------------------------------------------------


def parse(text: str | bytes, *, where: str = "") -> JSON:
    """Return the document in a text.

    Raises:
        WireError: It is no JSON, holds NaN, an infinity or a member twice, or is nested too deeply; at `where`.
    """
    try:
        return cast("JSON", json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant))
    except RecursionError:
        raise WireError("is nested too deeply", where=where) from None
    except ValueError as error:
        raise WireError(f"is no JSON: {error}", where=where) from None


def _unique(members: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(members)
    if len(document) != len(members):
        raise ValueError("a member stands twice")
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


@overload
def read(kind: type[T], document: object, *, where: str = "") -> T: ...
@overload
def read(kind: object, document: object, *, where: str = "") -> Any: ...
def read(kind: object, document: object, *, where: str = "") -> Any:
    """Build a value of a type from a document.

    Args:
        kind: A `Wire` class, or a tuple, mapping or union of them.
        document: What `parse` gave or `plain` made, or a member of a record that was read as `JsonMap`.
        where: Name of the document, the start of every path in errors.

    Raises:
        WireError: The first member that is missing, surplus or wrong.
        BadInput: The class refuses the values itself.
        TypeError: The type has no JSON form (a mistake in the program).
    """
    from kopt_kb.base.wire_direct import UNSURE, direct

    if isinstance(document, MappingProxyType | tuple):  # an object of any content, as a record holds it
        document = plain(document)
    value = direct(kind, document)
    if value is not UNSURE:
        return value
    from kopt_kb.base.wire_reader import validated

    return validated(kind, document, where)


def schema(kind: object) -> JsonSchemaValue:
    """Return the JSON Schema of the documents that a type writes; unknown members are refused."""
    from kopt_kb.base.wire_reader import json_schema

    return json_schema(kind)


def inside(path: str, kind: type[Wire]) -> tuple[str, ...]:
    """Return a class's members as members of another that holds it in an attribute: its document, flattened."""
    held = members(cast("Hashable", kind))
    return tuple(f"{one.name}{'?' if one.optional else ''}={path}.{one.path}" for one in held)


def pairs(value: object) -> object:
    """Return an object's members as (name, value) pairs, for a field that holds such pairs; else the value itself."""
    return tuple(value.items()) if isinstance(value, Mapping) else value


# ---- annotations ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Matches:
    """Annotation: the pattern has to be found in the text; `meaning` completes "has to be …"."""

    pattern: str
    meaning: str

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell pydantic the pattern and how a refusal is worded."""
        from kopt_kb.base.wire_reader import text_schema

        return text_schema(self.pattern, self.meaning)


@dataclasses.dataclass(frozen=True, slots=True)
class AtLeast:
    """Annotation: the integer may not be below `least`."""

    least: int

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell pydantic the limits."""
        from kopt_kb.base.wire_reader import integer_schema

        return integer_schema(self.least)


class ExactText:
    """Annotation: a Fraction that is written as exact text."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell pydantic the text and what becomes of it."""
        from kopt_kb.base.wire_reader import exact_schema

        return exact_schema(NUMBER)


class AnyObject:
    """Annotation: a JSON object of any content, frozen to read-only mappings and tuples."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell pydantic to take any JSON object."""
        from kopt_kb.base.wire_reader import any_object_schema

        return any_object_schema()


NUMBER = Matches(
    r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$|^-?[0-9]+/[1-9][0-9]*$", "an exact number such as 0.9 or 37/8"
)

Text = Annotated[str, Matches(r"\S", "text that is not blank")]
"""A text with at least one visible character."""
Sha256 = Annotated[str, Matches(r"^[0-9a-f]{64}$", "a sha256 in 64 lower-case hex digits")]
"""The name of a blob or the hash of a page."""
Number = Annotated[str, NUMBER]
"""A number kept as text, so that no digit is lost: an integer, a decimal or a fraction."""
NonNegativeInt = Annotated[int, AtLeast(0)]
"""An integer that is zero or more."""
Seq = Annotated[int, AtLeast(1)]
"""The sequence number of an event; equal to its line in the journal."""
Exact = Annotated[Fraction, ExactText()]
"""An exact number, written as text: "9/10"."""
JsonMap = Annotated[Mapping[str, Any], AnyObject()]
"""A JSON object whose inner shape belongs to somebody else."""
