"""The memory file's schema: exact types, closed sets, no NaN, hashes always text."""

from __future__ import annotations

import json

import jsonschema
import pytest

from kopt_kb.wire import WireError, parse, read, schema
from kopt_kb.workspace.memory import read_memory
from kopt_kb.workspace.views.memory import memory_text
from kopt_kb.workspace.views.memory_model import Direction, Iteration, MemoryFileError, SearchEntry, read_entry


def text_of(story, number=1):
    """A version's file as members."""
    return json.loads(memory_text(read_memory(story.workspace).get(number)))


def test_rendered_files_satisfy_the_schema(played):
    """With and without the header member; one more or less is refused."""
    form = schema(Iteration)
    for number in range(4):
        members = text_of(played, number)
        jsonschema.validate(members, form)
        jsonschema.validate({"_view": {}, **members}, form)
        for wrong in ({**members, "surplus": 1}, {name: members[name] for name in members if name != "masked"}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(wrong, form)


def test_reading_gives_the_same_back(played):
    """Type → text → type."""
    one = read_memory(played.workspace).get(1)
    assert read(Iteration, parse(memory_text(one))) == one


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
        ("performance.latency_us", float("inf")),
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
    with pytest.raises(WireError) as caught:
        read(Iteration, members)
    assert caught.value.where == path


class TestEntries:
    def test_plain_words_fill_the_main_member(self):
        """A pitfall of words is a note with a lesson."""
        assert read_entry("pitfalls_and_fixes", " loads were not aligned ").lesson == "loads were not aligned"
        assert read_entry("open_directions", "persist") == Direction("persist")
        assert read_entry("risks_and_rollback", " may spill ") == "may spill"

    def test_json_gives_all_members(self):
        """Sources are a closed set."""
        made = read_entry("search_log", '{"source": "gpu-wiki", "query": "q", "finding": "f"}')
        assert made == SearchEntry("gpu-wiki", "f", query="q")

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
