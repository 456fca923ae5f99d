"""The memory file's schema: exact types, closed sets, no NaN, hashes always text."""

from __future__ import annotations

import json

import jsonschema
import pytest

from kopt_kb.base.wire import WireError, parse, read, schema
from kopt_kb.packs.memory_form.attempts import read_memory
from kopt_kb.packs.memory_form.memory import memory_text
from kopt_kb.packs.memory_form.memory_model import Iteration


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
