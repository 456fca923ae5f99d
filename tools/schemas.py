"""Write docs/schema from the types: one JSON Schema a document that is printed or stored; `--check` only compares."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib
import json
import operator
import sys
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from kopt_kb.base.wire import schema
from kopt_kb.cli.commands import all_documents

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schema"

DOCUMENTS = all_documents()
"""Schema id → document: what commands and packs declare, and what the core stores."""


def document_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    document = DOCUMENTS[name]
    module, _, kind = document.place.partition(":")
    written = getattr(importlib.import_module(module), kind)
    body = schema(written)
    if document.is_read:
        given = [field for field in dataclasses.fields(written) if MISSING is field.default is field.default_factory]
        body["required"] = [field.name for field in given]
    return body if document.undated else _dated(body, required=not document.is_stored)


def _dated(body: dict[str, Any], *, required: bool) -> dict[str, Any]:
    """Return a document's schema with the version and date of the wiki's data, in every form that it can have."""
    from kopt_kb.wiki.version import DataVersion

    one = schema(DataVersion)
    body.setdefault("$defs", {})["DataVersion"] = {key: value for key, value in one.items() if key != "$schema"}
    for form in _forms(body, body["$defs"]):
        form["properties"]["data"] = {"$ref": "#/$defs/DataVersion"}
        if required:
            form["required"] = [*dict.fromkeys([*form.get("required", []), "data"])]
    return body


def _forms(body: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that a document can be."""
    if "$ref" in body:
        body = definitions[body["$ref"].rpartition("/")[2]]
    return [body] if "properties" in body else [one for part in body["anyOf"] for one in _forms(part, definitions)]


def journal_schema() -> dict[str, Any]:
    """Return the JSON Schema of a journal line: one form for each kind of event, in one envelope; of packs' any object.

    A member that has a default may be missing: journals are append-only, and older programs did not write it.
    """
    from kopt_kb.workspace.journal.events import kinds
    from kopt_kb.workspace.journal.pack_events import PackWord

    body = schema(functools.reduce(operator.or_, kinds().values()))
    for definition in body["$defs"].values():
        members = definition["properties"]
        definition["required"] = [name for name in definition["required"] if "default" not in members[name]]
    envelope = {"v": {"type": "integer", "minimum": 1}, "seq": {"type": "integer", "minimum": 1}}
    texts = {"t": {"type": "string", "format": "date-time"}, "zh": {"type": "string"}}
    of_pack = {name: value for name, value in schema(PackWord).items() if name != "$schema"}
    lines = [
        {
            "type": "object",
            "properties": {**envelope, **texts, "kind": {"const": kind} if kind else of_pack, "data": data},
            "required": ["v", "seq", "t", "kind", "data", "zh"],
            "additionalProperties": False,
        }
        for kind, data in [*zip(kinds(), body["anyOf"], strict=True), (None, {"type": "object"})]
    ]
    return {"$schema": body["$schema"], "title": "Line of journal.jsonl", "oneOf": lines, "$defs": body["$defs"]}


def wiki_page_schema() -> dict[str, Any]:
    """Return the JSON Schema of a product page: its front matter, and its rows with the cells of a table line."""
    from kopt_kb.quantity.units import UNITS
    from kopt_kb.wiki.cells import GRADES
    from kopt_kb.wiki.row import COLUMNS
    from kopt_kb.wiki.vocabulary import AXES, METRICS

    text = {"type": "string", "minLength": 1}
    names = {"type": "array", "items": text}
    own = ("platform", "vendor", "sku", "arch", "target")
    front = {**dict.fromkeys(own, text), **dict.fromkeys(("aliases", "family", "not", "pci"), names)}
    axes = {name: {"enum": list(words)} if words else text for name, words in AXES.items()}
    cells: dict[str, Any] = {name: {"type": "string"} for name in COLUMNS}
    cells["Metric"] = {"enum": list(METRICS)}
    cells["Unit"] = {"enum": list(UNITS)}
    cells["Grade"] = {"enum": [*GRADES, "-"]}
    cells["Value"] = {"type": "string", "pattern": "^([0-9]+([.][0-9]+)?|UNKNOWN|NONE|[A-Za-z0-9][A-Za-z0-9.:_+-]*)$"}
    cells["Conditions"] = {"type": "object", "properties": axes, "additionalProperties": False}
    row = {"type": "object", "properties": cells, "required": list(COLUMNS), "additionalProperties": False}
    members = {
        "front": {"type": "object", "properties": front, "required": list(own), "additionalProperties": False},
        "rows": {"type": "array", "items": row},
    }
    body = {"title": "Product page of the wiki, its table lines taken apart", "type": "object", "properties": members}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, **body, "required": ["front", "rows"], "additionalProperties": False}


def pages() -> dict[str, str]:
    """Return file name → text of every schema, members in a stable order."""
    bodies = {**{name: document_schema(name) for name in DOCUMENTS}, "journal": journal_schema()}
    bodies["wiki_page"] = wiki_page_schema()
    texts = {name: json.dumps(body, indent=1, sort_keys=True) for name, body in bodies.items()}
    return {f"{name}.schema.json": f"{text}\n" for name, text in texts.items()}


def main() -> int:
    """Write the files, or say which are not up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    args = parser.parse_args()
    have = {path.name: path.read_text() for path in FOLDER.glob("*.json")}
    stale = {name: text for name, text in pages().items() if have.get(name) != text}
    for name, text in stale.items():
        if args.check:
            print(f"docs/schema/{name} is out of date: run python tools/schemas.py")
        else:
            (FOLDER / name).write_text(text)
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
