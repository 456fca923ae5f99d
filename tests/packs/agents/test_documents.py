"""The schema of an answer: every document of the tool, the error among them, in one closed schema."""

from __future__ import annotations

import jsonschema
import pytest

from kopt_kb.packs.agents.documents import output_schema
from kopt_kb.packs.agents.tools import TOOLS


@pytest.mark.parametrize("name", TOOLS)
def test_each_is_a_schema(name: str) -> None:
    """By the draft, an object, every reference inside it, no texts."""
    schema = output_schema(TOOLS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object" and len(schema["anyOf"]) == len(TOOLS[name].documents) + 1
    validator = jsonschema.Draft202012Validator(schema)
    error = {"code": "KB102", "message": "m", "where": "w", "fix": "f"}
    data = {"version": "a", "date": "2026-01-01"}
    assert validator.is_valid({"error": error, "data": data})
    for wrong in ({"error": {**error, "more": 1}, "data": data}, {}, {"errors": error, "data": data}, {"error": error}):
        assert not validator.is_valid(wrong)


def test_all_need_the_version_of_the_data() -> None:
    """As the command prints it."""
    definitions = output_schema(TOOLS["compare"])["$defs"]
    assert "data" in definitions["SideBySideDocument"]["required"] and definitions["DataVersion"]["properties"]
