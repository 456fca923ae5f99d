"""The memory file's schema: exact types, closed sets, no NaN, hashes always text."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from kopt_kb.workspace.memory import read_memory
from kopt_kb.workspace.views.memory import memory_text
from kopt_kb.workspace.views.memory_model import (
    MemoryFileError,
    json_schema,
    read_entry,
    read_iteration,
    schema_text,
)


def text_of(story, number=1):
    """A version's file as members."""
    return json.loads(memory_text(read_memory(story.workspace).get(number)))


def test_the_exported_schema_is_current(repo_root: Path):
    """docs/schema/v_iteration.schema.json is what the model gives."""
    assert (repo_root / "docs/schema/v_iteration.schema.json").read_text() == schema_text()


def test_rendered_files_satisfy_the_schema(played):
    """With and without the header member."""
    for number in range(4):
        members = text_of(played, number)
        jsonschema.validate(members, json_schema())
        jsonschema.validate({"_view": {}, **members}, json_schema())


def test_reading_gives_the_same_model_back(played):
    """JSON → model → JSON."""
    one = read_memory(played.workspace).get(1)
    assert read_iteration(memory_text(one).encode(), "v1.json") == one


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("git_commit_hash", 1234567),
        ("git_commit_hash", "not hex"),
        ("kernel.blob", 12),
        ("version", "v2junk"),
        ("version", "v02"),
        ("status", "splendid"),
        ("performance.latency_us", "3"),
        ("performance.latency_us", True),
        ("masked", "true"),
        ("masked", 1),
        ("correctness.status", "OK"),
        ("no_such_field", 1),
        ("performance.no_such_field", 1),
    ],
)
def test_wrong_values_are_refused_by_field(played, path, value):
    """What the original accepted: any status, unknown keys, hashes as numbers."""
    members = text_of(played)
    place = members
    *folders, name = path.split(".")
    for folder in folders:
        place = place[folder]
    place[name] = value
    with pytest.raises(MemoryFileError) as caught:
        read_iteration(json.dumps(members).encode(), "memory/v1.json")
    assert path in caught.value.what


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "12e4567"])
def test_nan_and_infinity_are_refused(played, number):
    """As words and as digits beyond any float."""
    text = memory_text(read_memory(played.workspace).get(1))
    broken = text.replace('"n": 100', f'"n": 100, "x": {number}', 1)
    with pytest.raises(MemoryFileError):
        read_iteration(broken.encode(), "v1.json")


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"version": "v1", "version": "v2"}', b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_refused(data):
    """One line, no traceback."""
    with pytest.raises(MemoryFileError, match="v1.json"):
        read_iteration(data, "v1.json")


class TestEntries:
    def test_plain_words_fill_the_main_member(self):
        """A pitfall of words is a note with a lesson."""
        assert read_entry("pitfalls_and_fixes", " loads were not aligned ")["lesson"] == "loads were not aligned"
        assert read_entry("open_directions", "persist") == {"direction": "persist", "rationale": ""}
        assert read_entry("risks_and_rollback", " may spill ") == "may spill"

    def test_json_gives_all_members(self):
        """Sources are a closed set."""
        made = read_entry("search_log", '{"source": "gpu-wiki", "query": "q", "finding": "f"}')
        assert made == {"source": "gpu-wiki", "query": "q", "finding": "f", "actionability": ""}

    @pytest.mark.parametrize(
        "text",
        [
            '{"source": "hearsay", "finding": "f"}',
            '{"finding": 3, "source": "note"}',
            '{"finding": NaN}',
            "{",
            " ",
            "{}",
        ],
    )
    def test_entries_of_another_form_are_refused(self, text):
        """Numbers, unknown sources, NaN, broken or empty JSON."""
        with pytest.raises(MemoryFileError, match="search_log"):
            read_entry("search_log", text)
