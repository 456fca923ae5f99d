"""What a tool answers, as one JSON Schema: the documents of its command, and the error in their place."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kopt_kb.base.wire import schema
from kopt_kb.packs.agents.tools import ServedTool

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

__all__ = ["output_schema"]

_ERROR = "kopt_kb.cli.kit.documents:ErrorDocument"
_DATA = "kopt_kb.wiki.version:DataVersion"


def output_schema(tool: ServedTool) -> JsonSchemaValue:
    """Return the schema of a tool's structured content; any object, where documents of an extra are not installed."""
    definitions: JsonSchemaValue = {}
    try:
        forms = [_define(word, definitions) for word in (*tool.documents, _ERROR)]
    except ModuleNotFoundError as error:
        if str(error.name).startswith("kopt_kb"):
            raise
        return {"type": "object"}
    return {"type": "object", "anyOf": [{"$ref": f"#/$defs/{name}"} for name in forms], "$defs": definitions}


def _define(word: str, definitions: JsonSchemaValue) -> str:
    """Add a document and what it refers to; return its name."""
    module, _, name = word.partition(":")
    body = schema(getattr(importlib.import_module(module), name))
    name = name if name.endswith(("Document", "Version")) else f"{name}Document"
    held = {**body.pop("$defs", {}), name: body}
    if word != _DATA:
        _define(_DATA, definitions)
        for form in _forms(body, held):
            form["properties"]["data"] = {"$ref": "#/$defs/DataVersion"}
            form["required"] = list(dict.fromkeys([*form.get("required", []), "data"]))
    for key, one in held.items():
        plain = _without_texts(one)
        if definitions.setdefault(key, plain) != plain:
            raise ValueError(f"two documents define {key}")
    return name


def _forms(body: JsonSchemaValue, held: JsonSchemaValue) -> list[JsonSchemaValue]:
    """Return the objects that a document can be."""
    if "$ref" in body:
        body = held[body["$ref"].rpartition("/")[2]]
    return [body] if "properties" in body else [one for part in body["anyOf"] for one in _forms(part, held)]


def _without_texts(node: Any, *, named: bool = False) -> Any:
    """Return a schema without the texts for people: docs/schema has them, and a list of tools is read by models."""
    if isinstance(node, list):
        return [_without_texts(one) for one in node]
    if not isinstance(node, dict):
        return node
    left_out = () if named else ("$schema", "title", "description")
    return {
        key: _without_texts(value, named=key in {"properties", "$defs"} and not named)
        for key, value in node.items()
        if key not in left_out
    }
