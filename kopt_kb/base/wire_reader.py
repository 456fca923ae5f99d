"""What pydantic is told about the documents of `kopt_kb.base.wire`; importing this module loads pydantic."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, ClassVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, SchemaValidator, ValidationError, core_schema

from kopt_kb.base.wire import DEPTH_LIMIT, LARGEST_INTEGER, Matches, Member, Wire, WireError, members

__all__ = [
    "any_object_schema",
    "class_schema",
    "exact_schema",
    "integer_schema",
    "json_schema",
    "text_schema",
    "validated",
]

_Node = dict[str, Any]


def validated(kind: Any, document: object, where: str) -> Any:
    """Build a value of a type from a document; see `kopt_kb.base.wire.read`."""
    try:
        return _validator(kind)(document)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False), document, where) from None


def json_schema(kind: Any) -> JsonSchemaValue:
    """Return the JSON Schema of what a type writes; see `kopt_kb.base.wire.schema`."""
    body = TypeAdapter(kind).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_tidy(body)}


def _tidy(node: Any) -> Any:
    """Drop made-up titles of members; share a class's docstring out: first line to the class, attributes to members."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {name: _tidy(item) for name, item in node.items() if name != "title" or "properties" in node}
    if "properties" in node:
        text = str(node.get("description", ""))
        told = dict(_ATTRIBUTE.findall(text.partition("\nAttributes:\n")[2]))
        kept["properties"] = {
            name: _tidy(item) | ({"description": " ".join(told[name].split())} if name in told else {})
            for name, item in node["properties"].items()
        }
        kept["description"] = text.split("\n", maxsplit=1)[0]
    return kept


_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
"""A line of a docstring's list of attributes with those that continue it."""


@cache
def _validator(kind: Any) -> Callable[[object], Any]:
    adapter = TypeAdapter(kind)
    if isinstance(kind, type) and issubclass(kind, Wire):
        return adapter.validator.validate_python
    return SchemaValidator(_strict(cast("_Node", adapter.core_schema))).validate_python


# ---- classes -------------------------------------------------------------------------------------


def class_schema(kind: type[Wire], core: CoreSchema, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Return pydantic's schema of a dataclass with the names, computed members and strictness of its document."""
    node = cast("_Node", core)
    if node["type"] != "dataclass":  # a reference to a class that is being built
        return core
    computed = {member.path: member for member in members(cast("Hashable", kind))}
    converts = hasattr(kind, "from_wire")
    fields = [_field(field, computed.pop(field["name"], None), converts) for field in node["schema"]["fields"]]
    node["schema"] = {
        **node["schema"],
        "fields": fields,
        "computed_fields": [_computed(kind, member, handler) for member in computed.values()],
    }
    lost = [field["name"] for field in fields if field.get("init") is False and field["schema"]["type"] != "default"]
    dropped = {member.name for member in computed.values()} - (set(node["fields"]) if converts else set())
    if not (lost or dropped or converts):
        return core
    return core_schema.no_info_before_validator_function(_prepare(kind, dropped, lost), core)


def _field(field: _Node, member: Member | None, converts: bool) -> _Node:
    if member is None and not converts:
        return {**field, "serialization_exclude": True, "init": False}
    strict = {**field, "schema": _strict(field["schema"])}
    if member is None:
        return {**strict, "serialization_exclude": True}
    if member.name == field["name"]:
        return strict
    return {**strict, "validation_alias": member.name, "serialization_alias": member.name}


def _computed(kind: type, member: Member, handler: GetCoreSchemaHandler) -> core_schema.ComputedField:
    form = _strict(cast("_Node", handler.generate_schema(_hint(kind, member.path))))
    return core_schema.computed_field(member.path, form, alias=member.name)


def _hint(kind: Any, path: str) -> Any:
    """Return the type of an attribute of a class, along its path; of a union, the types its classes have there."""
    for name in path.split("."):
        classes = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
        kind = Union[tuple(_attribute(class_, name) for class_ in classes)]  # noqa: UP007
    return kind


def _attribute(kind: Any, name: str) -> Any:
    attribute = getattr(kind, name, None)
    if isinstance(attribute, property):
        return get_type_hints(attribute.fget, include_extras=True)["return"]
    found = get_type_hints(kind, include_extras=True)[name]
    return get_args(found)[0] if get_origin(found) is ClassVar else found


def _prepare(kind: type[Wire], dropped: set[str], lost: list[str]) -> Callable[[object], object]:
    convert = getattr(kind, "from_wire", None)

    def prepare(value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        if lost:
            raise TypeError(f"a {kind.__name__} is written only: its document lacks {', '.join(lost)}")
        fields = {name: item for name, item in value.items() if name not in dropped}
        return fields if convert is None else convert(fields)

    return prepare


# ---- values --------------------------------------------------------------------------------------

_LIMITS = {"ge": -LARGEST_INTEGER, "le": LARGEST_INTEGER}
_SCALARS: dict[str, _Node] = {
    "str": {"strict": True},
    "bool": {"strict": True},
    "int": {"strict": True, **_LIMITS},
    "float": {"strict": True, "allow_inf_nan": False},
}
_WHOLE = {"none", "any", "literal", "enum", "definition-ref", "custom-error"}
"""Forms that are taken as they are: they hold no scalar, or were made strict before."""


def _strict(node: _Node) -> _Node:
    """Return pydantic's schema of a value, without its conversions."""
    kind = node["type"]
    if kind in _SCALARS:
        return {**_SCALARS[kind], **node}
    if kind in _WHOLE or kind.startswith("function-") or (kind == "dataclass" and issubclass(node["cls"], Wire)):
        return node
    if kind in {"nullable", "default", "definitions"}:
        return {**node, "schema": _strict(node["schema"])}
    if kind == "tuple":
        return {**node, "items_schema": [_strict(one) for one in node["items_schema"]]}
    if kind == "frozenset":
        return {**node, "items_schema": _strict(node["items_schema"])}
    if kind == "dict":
        return _read_only({**node, "values_schema": _strict(node["values_schema"])})
    if kind == "union":
        return {**node, "choices": [_strict(one) for one in node["choices"]]}
    raise TypeError(f"no JSON form for {kind}")


def _read_only(node: _Node) -> _Node:
    return cast("_Node", core_schema.no_info_after_validator_function(MappingProxyType, cast("CoreSchema", node)))


def text_schema(pattern: str, meaning: str) -> CoreSchema:
    """Return the schema of text that holds a pattern; lone surrogates of undecodable words are text."""

    def held(value: str) -> str:
        if re.search(pattern, value) is None:
            raise PydanticCustomError("kb", "text")
        return value

    # Without a constraint of its own pydantic takes text as it is; its pattern would refuse a lone surrogate.
    text = core_schema.no_info_after_validator_function(
        held, core_schema.str_schema(strict=True), metadata={"pydantic_js_updates": {"pattern": pattern}}
    )
    return core_schema.custom_error_schema(text, "kb", custom_error_message=meaning)


def integer_schema(least: int) -> CoreSchema:
    """Return the schema of an integer of at most 63 bits and not below `least`."""
    return core_schema.int_schema(strict=True, ge=least, le=LARGEST_INTEGER)


def exact_schema(number: Matches) -> CoreSchema:
    """Return the schema of exact numbers: text outside, a Fraction inside."""
    text = text_schema(number.pattern, number.meaning)
    return core_schema.no_info_after_validator_function(Fraction, text)


def any_object_schema() -> CoreSchema:
    """Return the schema of any JSON object, frozen at every level."""
    anything = core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
    return core_schema.no_info_wrap_validator_function(_frozen_object, anything)


def _frozen_object(value: object, _handler: object) -> object:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("kb", "an object")
    return _frozen(value, "", 0)


def _frozen(value: object, path: str, depth: int) -> object:
    if depth > DEPTH_LIMIT:
        raise _inside(path, f"is nested deeper than {DEPTH_LIMIT} levels")
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return tuple([_frozen(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)])
    if isinstance(value, Mapping):
        return MappingProxyType(
            {_key(key, path): _frozen(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
        )
    raise _inside(path, _not_json(value))


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise _inside(path, f"has to be an object with text keys, not {key!r}")
    return key


def _not_json(value: object) -> str:
    if isinstance(value, int):
        return f"has to be {_BITS}"
    return f"has to be {'a finite number' if isinstance(value, float) else 'a JSON value'}, not {_shown(value)}"


def _inside(path: str, what: str) -> PydanticCustomError:
    return PydanticCustomError("kb", "{what}", {"what": what, "path": path})


# ---- refusals ------------------------------------------------------------------------------------

_EXPECTED = {
    "string_type": "text",
    "int_type": "an integer",
    "float_type": "a finite number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "dataclass_type": "an object",
}
_BITS = "an integer of at most 63 bits"


def _refusal(errors: list[ErrorDetails], document: object, where: str) -> WireError:
    """Return the first error; the forms that a union tried at its place are one error."""
    first = errors[0]
    place = _place(first, document)
    tried = [one for one in errors if _place(one, document) == place]
    return WireError(_words(first, tried), where=(where + place).removeprefix("."))


def _words(error: ErrorDetails, tried: list[ErrorDetails]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "unexpected_keyword_argument":
        return "is no member of this record"
    if "what" in context:
        return str(context["what"])
    expected = dict.fromkeys(_expected(error["type"], error.get("ctx", {})) or error["msg"] for error in tried)
    return f"has to be {' or '.join(expected)}, not {_shown(error['input'])}"


def _expected(kind: str, context: _Node) -> str:
    if kind in {"literal_error", "enum"}:
        return "one of " + str(context["expected"]).replace("'", "").replace(" or ", ", ")
    if kind == "greater_than_equal" and context["ge"] >= 0:
        return f"at least {context['ge']}"
    return _BITS if kind in {"greater_than_equal", "less_than_equal"} else _EXPECTED.get(kind, "")


def _place(error: ErrorDetails, document: object) -> str:
    """Return the path of an error in the document; steps that only say which form was tried are left out."""
    path = ""
    for step in error["loc"]:
        if isinstance(step, int) and isinstance(document, list | tuple):
            path, document = f"{path}[{step}]", document[step]
        elif isinstance(document, Mapping) and step in document:
            path, document = f"{path}.{step}", document[step]
    if error["type"] == "missing":
        path = f"{path}.{error['loc'][-1]}"
    return path + str(error.get("ctx", {}).get("path", ""))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
