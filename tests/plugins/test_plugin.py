"""The AKA plugin: its manifest by that project's rules, and its tools over stdin and stdout."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kopt_kb.base.errors import BadInput

WORDS = {
    "type", "description", "properties", "required", "additionalProperties", "items", "enum", "minLength", "minimum",
    "maximum",
}  # fmt: skip
"""The words that AKA's schemas may use: docs/plugins.md of alibaba/atrex-kernel-agent at 1c81bd8."""


def _plugin(root: Path) -> tuple[Path, dict[str, Any]]:
    folder = root / "plugins" / "kopt-kb"
    return folder, json.loads((folder / "plugin.json").read_text())


def _call(root: Path, tool: str, request: object) -> dict[str, Any]:
    """Call a tool as its manifest says and hold request and answer against its schemas."""
    folder, manifest = _plugin(root)
    entry = manifest["tools"][tool]
    jsonschema.validate(request, json.loads((folder / entry["input_schema"]).read_text()))
    words = [word.format(python=sys.executable, plugin_root=folder) for word in entry["command"]]
    done = subprocess.run(words, input=json.dumps(request), capture_output=True, text=True, check=True, timeout=60)
    answer: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(answer, json.loads((folder / entry["output_schema"]).read_text()))
    assert len(done.stdout.encode()) < 256 << 10
    return answer


def _words(schema: object, *, named: bool = False) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_words, schema), set())
    if not isinstance(schema, dict):
        return set()
    own = set() if named else set(schema)
    return own.union(*(_words(value, named=name == "properties") for name, value in schema.items()), set())


def test_the_manifest(repo_root: Path) -> None:
    """Its id is its folder's name, each file is there, timeouts and schema words are allowed ones."""
    folder, manifest = _plugin(repo_root)
    assert manifest["id"] == folder.name and manifest["api_version"] == 1
    assert (folder / manifest["instructions"]["common"]).is_file()
    for entry in manifest["tools"].values():
        assert 1 <= entry["timeout_seconds"] <= 3600
        for name in ("input_schema", "output_schema"):
            assert _words(json.loads((folder / entry[name]).read_text())) <= WORDS


def test_lookup(repo_root: Path) -> None:
    """A value with its citation; UNKNOWN; a whole product fits."""
    request = {"platform": "NVIDIA H20", "metric": "memory_bandwidth"}
    (spec,) = _call(repo_root, "lookup", request)["result"]["specs"]
    assert spec["citation"].startswith("memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/")
    assert _call(repo_root, "lookup", {"platform": "MI308X", "metric": "memory_bandwidth"})["result"]["unknown"]
    assert len(_call(repo_root, "lookup", {"platform": "H100_SXM"})["result"]["specs"]) > 50
    assert _call(repo_root, "lookup", {"platform": "gfx942", "metric": "peak_compute", "conditions": ["dtype=bf16"]})


@pytest.mark.parametrize(
    ("request_", "code"),
    [({"platform": "H100"}, "KB052"), ({"platform": "H20", "conditions": ["bf16"]}, "KB104")],
)
def test_a_refusal_is_an_answer(repo_root: Path, request_: dict[str, Any], code: str) -> None:
    """With what to do."""
    answer = _call(repo_root, "lookup", request_)
    assert answer["error"]["code"] == code and answer["error"]["fix"]


def test_lint(repo_root: Path) -> None:
    """The worst first, counts, and the version of the data."""
    text = "H20: roughly 4.0 TB/s HBM\n\nH20: peak memory bandwidth 4.8 TB/s\n"
    answer = _call(repo_root, "lint", {"texts": [{"path": "report.md", "text": text}]})
    assert [one["level"] for one in answer["findings"]] == ["error", "warning"]
    assert (answer["claims"], answer["errors"], answer["left_out"]) == (2, 1, 0)
    assert answer["data"]["version"]


@pytest.mark.parametrize(
    ("tool", "request_text"),
    [
        ("lint", "x"),
        ("lint", "[]"),
        ("lint", "{}"),
        ("lint", '{"texts": [1]}'),
        ("lint", '{"texts": [], "level": "loud"}'),
        ("lookup", '{"platform": 5}'),
        ("lookup", '{"platform": "H20", "conditions": "dtype=fp8"}'),
    ],
)
def test_a_request_that_is_none_is_answered(repo_root: Path, tool: str, request_text: str) -> None:
    """No JSON, no object, a field too few or of another kind: refused with a reason, never a trace."""
    made = importlib.util.spec_from_file_location("plugin_tool", _plugin(repo_root)[0] / "tool.py")
    assert made is not None and made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    with pytest.raises(BadInput):
        module.asked(tool, io.StringIO(request_text))


@pytest.mark.parametrize(
    ("tool", "request_", "told"),
    [
        ("lookup", {"platform": "H20", "metric": "sm_count", "conditions": ["platform=1"]}, "has no axis 'platform'"),
        ("lookup", {"platform": "H20", "metric": "sm_count", "conditions": ["registry=1"]}, "has no axis 'registry'"),
        ("lookup", {"platform": "A" * 300_000}, "no page for platform"),
        ("lint", {"texts": [{"path": "\ud800.md", "text": "H100 SXM has 120 SMs"}]}, ""),
    ],
)
def test_odd_requests_are_answered(repo_root: Path, tool: str, request_: dict[str, Any], told: str) -> None:
    """Conditions called as arguments of ours, a name that is longer than the caller takes, half a surrogate pair."""
    answer = _call(repo_root, tool, request_)
    assert told in answer["error"]["message"] if told else answer["findings"]
