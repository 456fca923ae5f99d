"""From a call to words, and the schema of a call: both follow the command's parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.agents.roots import Roots
from kopt_kb.packs.agents.tools import TOOLS
from kopt_kb.packs.agents.words import input_schema, words_of


def _words(tmp_path: Path, tool: str, given: dict[str, Any], *wikis: str) -> list[str]:
    return words_of(TOOLS[tool], given, Roots.of([str(tmp_path)]), wikis, tmp_path)


@pytest.mark.parametrize("name", TOOLS)
def test_each_schema_is_one(name: str) -> None:
    """By the draft, with a text for each argument, closed."""
    schema = input_schema(TOOLS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object" and schema["additionalProperties"] is False
    assert all(one["description"] and "%(" not in one["description"] for one in schema["properties"].values())


def test_kinds() -> None:
    """Lists, numbers, choices, flags, what is needed; an action where the command has some."""
    tune = input_schema(TOOLS["tune"])
    assert tune["required"] == ["action", "workspace"] and tune["properties"]["action"]["enum"] == [
        "step",
        "status",
        "stop",
    ]
    assert tune["properties"]["simulate"]["type"] == "boolean" and tune["properties"]["seed"]["type"] == "integer"
    assert (
        tune["properties"]["plan"]["type"] == ["object", "string"]
        and "(step)" in tune["properties"]["plan"]["description"]
    )
    lookup = input_schema(TOOLS["lookup"])
    assert lookup["required"] == ["platform"] and lookup["properties"]["conditions"]["type"] == "array"
    record = input_schema(TOOLS["record"])
    assert record["required"] == ["out"] and record["properties"]["file"]["type"] == "string"
    assert "enum" in input_schema(TOOLS["lint_text"])["properties"]["level"]


def test_words(tmp_path: Path) -> None:
    """Options as one word each, places last, paths absolute, names of the package as they are."""
    given = {"platform": "H20", "metric": "peak_compute", "conditions": ["dtype=bf16"]}
    assert _words(tmp_path, "lookup", given, "/w") == [
        "lookup",
        "--wiki=/w",
        "--json",
        "H20",
        "peak_compute",
        "dtype=bf16",
    ]
    given = {"file": "op:rms_norm", "shape": ["8x8"], "dtype": "bf16"}
    assert _words(tmp_path, "count", given) == ["count", "--shape=8x8", "--dtype=bf16", "--json", "op:rms_norm"]
    assert _words(tmp_path, "count", {"file": "op.py"})[-1] == str(tmp_path.resolve() / "op.py")
    given = {"action": "step", "workspace": "w", "simulate": True, "dry_run": False, "plan": {"category": "a"}}
    words = _words(tmp_path, "tune", given)
    assert words[:2] == ["tune", "step"] and "--simulate" in words and "--dry-run" not in words and "--yes" in words
    (plan,) = [word.partition("=")[2] for word in words if word.startswith("--plan=")]
    assert json.loads(Path(plan).read_text()) == {"category": "a"}


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("lookup", {}, "KB102"),
        ("lookup", {"platform": 1}, "KB104"),
        ("lookup", {"platform": "--help"}, "KB104"),
        ("lookup", {"platform": "H20", "wiki": "/etc"}, "KB010"),
        ("lookup", {"platform": "H20", "conditions": "dtype=bf16"}, "KB104"),
        ("tune", {"workspace": "w"}, "KB106"),
        ("tune", {"action": "run", "workspace": "w"}, "KB106"),
        ("tune", {"action": "status", "workspace": "w", "plan": "p"}, "KB010"),
        ("tune", {"action": "step", "workspace": "w", "proposer": ["sh"]}, "KB010"),
        ("tune", {"action": "step", "workspace": "w", "seed": True}, "KB104"),
        ("tune", {"action": "step", "workspace": "w", "simulate": 1}, "KB104"),
        ("audit", {"path": "/etc"}, "KB128"),
        ("audit", {"path": "x", "anchor": "../../x"}, "KB128"),
        ("init", {"name": "a", "platform": "H20", "parent": "/tmp/.."}, "KB128"),
        ("record", {"file": "op:rms_norm", "out": "/x"}, "KB128"),
        ("lint_text", {"files": []}, "KB102"),
        ("lookup", {"platform": "a\0"}, "KB118"),
        ("lookup", {"platform": "a\ud800"}, "KB108"),
        ("audit", {"path": "x" * 200_000}, "KB118"),
    ],
)
def test_refused(tmp_path: Path, tool: str, given: dict[str, Any], code: str) -> None:
    """With a code and a fix that names what would do."""
    with pytest.raises(BadInput) as caught:
        _words(tmp_path, tool, given)
    assert (caught.value.error_code, bool(caught.value.fix)) == (code, True)
    assert caught.value.where


def test_an_option_in_disguise_stays_a_value(tmp_path: Path) -> None:
    """A value that looks like an option can't become one: the parser reads option and value as one word."""
    words = _words(tmp_path, "roofline", {"platform": "H20", "op": "--plot", "shape": ["--picture=/tmp/x"]})
    assert "--op=--plot" in words and "--shape=--picture=/tmp/x" in words
